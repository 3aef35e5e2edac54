/** One screen before anything runs: what is trained, what it asks of this device, and Start. */
import type { PublicRun } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Alert } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';
import { useTabTitle } from '../hooks/use-tab-title.ts';
import type { SettingsProperties } from '../controls/options.tsx';
import { RunFacts } from '../run/run-facts.tsx';
import { RunSoFar } from '../run/run-so-far.tsx';
import { isOpen } from '../run/run-status.ts';
import { ClosedNotice } from './closed-notice.tsx';
import { LendCard } from './lend-card.tsx';

interface Properties extends SettingsProperties {
  snapshot: HostSnapshot;
  run: PublicRun;
  /** The address names the run: there may be others. */
  chosen: boolean;
}

export function BeforeStart({ snapshot, run, chosen, settings, onChange }: Properties) {
  useTabTitle(`${run.name} · Tabweave`);
  const { kind } = snapshot.status;
  // Then the notice above has the way on.
  const blocked = kind === 'elsewhere' || kind === 'taken-over' || kind === 'reload';
  const start = (takeOver: boolean): void =>
    void volunteer.start(
      {
        url: location.origin,
        runId: run.id,
        name: settings.nickname,
        dutyCycle: settings.share / 100,
        backend: settings.backend,
      },
      { pauseOnBattery: settings.pauseOnBattery, takeOver },
    );
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-rows-[auto_1fr] lg:items-start">
      <div className="space-y-4">
        {chosen ? (
          <Link to="/" className="inline-block min-h-6 text-sm underline" onClick={() => volunteer.reset()}>
            All runs that need help
          </Link>
        ) : null}
        <RunFacts run={run} />
      </div>
      <div className="space-y-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
        {kind === 'off' ? null : <ClosedNotice snapshot={snapshot} onTakeOver={() => start(true)} />}
        {isOpen(run) ? (
          <LendCard
            run={run}
            settings={settings}
            onChange={onChange}
            onStart={blocked ? null : () => start(false)}
          />
        ) : (
          <Alert tone="info" title="This run has ended">
            There is nothing to compute for it any more.{' '}
            <Link to="/" className="underline" onClick={() => volunteer.reset()}>
              See what else needs help
            </Link>
          </Alert>
        )}
      </div>
      <RunSoFar run={run} />
    </div>
  );
}
