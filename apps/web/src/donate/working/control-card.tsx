/** What this tab does now, why, and the control. */
import { Announce, Button, Card, Progress } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';
import { activity } from '../activity.ts';
import { secondsUntil } from '../format.ts';
import type { Headline } from '../headline.ts';
import { useFocusOnMount } from '../hooks/use-focus-on-mount.ts';
import { useNow } from '../hooks/use-now.ts';
import { useSettled } from '../hooks/use-settled.ts';
import { ControlButtons } from './control-buttons.tsx';
import { ToneIcon } from './tone-icon.tsx';

/** A screen reader hears a state that lasts. */
const settledMilliseconds = 1500;

interface Properties {
  snapshot: HostSnapshot;
  head: Headline;
  onWorkOnBattery: () => void;
}

export function ControlCard({ snapshot, head, onWorkOnBattery }: Properties) {
  const { state, status } = snapshot;
  const spoken = useSettled(`${head.title}. ${head.reason}`, settledMilliseconds);
  const title = useFocusOnMount<HTMLHeadingElement>();
  return (
    <Card>
      <div className="space-y-5">
        <div className="flex gap-4">
          <ToneIcon tone={head.tone} />
          <div className="min-w-0 space-y-1">
            <h1
              ref={title}
              tabIndex={-1}
              className="text-2xl font-semibold outline-none"
              data-testid="phase"
              data-phase={state?.phase ?? status.kind}
            >
              {head.title}
            </h1>
            {head.reason === '' ? null : <p className="break-words">{head.reason}</p>}
            {head.retryAt === null ? null : (
              <Countdown at={head.retryAt} canHurry={status.kind === 'restarting'} />
            )}
          </div>
        </div>
        <Announce>{spoken}</Announce>
        {head.tone === 'working' && state ? <Now state={state} /> : null}
        <ControlButtons snapshot={snapshot} onWorkOnBattery={onWorkOnBattery} />
      </div>
    </Card>
  );
}

function Countdown({ at, canHurry }: { at: number; canHurry: boolean }) {
  const seconds = secondsUntil(at, useNow(true));
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="tabular">{seconds === 0 ? 'Trying again now…' : `Trying again in ${seconds} s`}</p>
      {canHurry ? (
        <Button size="small" onClick={() => volunteer.restartNow()}>
          Try now
        </Button>
      ) : null}
    </div>
  );
}

/** The present task; between two tasks it keeps its place, so that nothing jumps. */
function Now({ state }: { state: NonNullable<HostSnapshot['state']> }) {
  const now = activity(state);
  if (now === null) return null;
  return (
    <div className="space-y-1" data-testid="activity">
      <p className="tabular text-sm text-muted">{now.text}</p>
      <Progress value={now.done} max={1} label="Samples of the present task" />
    </div>
  );
}
