/** The donate page: what is trained, Start, and what this tab then does. */
import type { PublicRun } from '@tabweave/shared';
import { BeforeStart } from './start/before-start.tsx';
import { isOpen } from './run/run-status.ts';
import { ChooseRun } from './run/choose-run.tsx';
import { RunNotThere } from './run/run-not-there.tsx';
import { useRun, useRuns } from './hooks/use-public-data.ts';
import { useSettings } from './hooks/use-settings.ts';
import { useVolunteer } from './hooks/use-volunteer.ts';
import { Shell } from './shell.tsx';
import { Working } from './working/working.tsx';

/** @param runId the run that the address names; null where the visitor is to choose. */
export default function DonatePage({ runId }: { runId: string | null }) {
  const snapshot = useVolunteer();
  const [settings, change] = useSettings();
  const { kind } = snapshot.status;
  const active = kind === 'asking' || kind === 'running' || kind === 'restarting';
  const runs = useRuns(!active && runId === null);
  // After the end the run stays in view, with its thanks.
  const own = kind === 'off' ? onlyOpen(runs.data ?? []) : snapshot.runId;
  const shownId = active ? snapshot.runId : (runId ?? own);
  const run = useRun(shownId);
  const pushed = active && snapshot.state?.run?.id === shownId ? snapshot.state.run : null;
  const shown = newer(run.data ?? null, pushed);

  return (
    <Shell>
      {shownId === null ? (
        <ChooseRun runs={runs.data ?? null} error={runs.error} onRetry={() => void runs.refetch()} />
      ) : shown === null ? (
        <RunNotThere error={run.error} onRetry={() => void run.refetch()} />
      ) : active ? (
        <Working snapshot={snapshot} run={shown} settings={settings} onChange={change} asked={runId} />
      ) : (
        <BeforeStart
          snapshot={snapshot}
          run={shown}
          settings={settings}
          onChange={change}
          chosen={runId !== null || kind !== 'off'}
        />
      )}
    </Shell>
  );
}

/** The run that needs help, where there is just one. */
function onlyOpen(runs: PublicRun[]): string | null {
  const [first, ...more] = runs.filter(isOpen);
  return first !== undefined && more.length === 0 ? first.id : null;
}

/** The server pushes the run to the worker while it works, and the page asks for it: whichever is further. */
function newer(polled: PublicRun | null, pushed: PublicRun | null): PublicRun | null {
  if (polled === null || pushed === null) return polled ?? pushed;
  return pushed.step >= polled.step ? pushed : polled;
}
