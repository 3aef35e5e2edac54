/** What this tab does now, and the one big control: pause, resume, finish. */
import { Pause, Play, Square } from 'lucide-react';
import { Announce, Button, Card, Progress } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';
import { activity } from '../activity.ts';
import { secondsUntil } from '../format.ts';
import type { Headline } from '../headline.ts';
import { useNow } from '../hooks/use-now.ts';
import { useSettled } from '../hooks/use-settled.ts';
import { ToneIcon } from './tone-icon.tsx';

const minute = 60_000;
/** A screen reader hears a state that lasts. */
const settledMilliseconds = 1500;

interface Properties {
  snapshot: HostSnapshot;
  head: Headline;
  onWorkOnBattery: () => void;
}

export function ControlCard({ snapshot, head, onWorkOnBattery }: Properties) {
  const { state, status, pauses } = snapshot;
  const spoken = useSettled(`${head.title}. ${head.reason}`, settledMilliseconds);
  const paused = pauses.user !== null || pauses.battery;
  const finishing = state?.phase === 'finishing';
  return (
    <Card>
      <div className="space-y-5">
        <div className="flex gap-4">
          <ToneIcon tone={head.tone} />
          <div className="min-w-0 space-y-1">
            <h1
              className="text-2xl font-semibold"
              data-testid="phase"
              data-phase={state?.phase ?? status.kind}
            >
              {head.title}
            </h1>
            {head.reason === '' ? null : <p className="break-words">{head.reason}</p>}
            {head.retryAt === null ? null : <Countdown at={head.retryAt} />}
          </div>
        </div>
        <Announce>{spoken}</Announce>
        <Now snapshot={snapshot} />
        {paused ? (
          <ResumeButtons pauses={pauses} onWorkOnBattery={onWorkOnBattery} />
        ) : (
          <PauseButtons disabled={finishing} />
        )}
        <div className="space-y-2">
          {finishing ? (
            <Button icon={Square} className="w-full" data-testid="stop" onClick={() => volunteer.stop()}>
              Stop at once
            </Button>
          ) : (
            <Button icon={Square} className="w-full" data-testid="finish" onClick={() => volunteer.finish()}>
              Finish and stop
            </Button>
          )}
          <p className="text-sm text-muted">
            Finish sends the piece of work in hand. Closing the tab is safe at any time too: the server gives
            the piece to someone else. The tab goes on working while it is hidden.
          </p>
        </div>
      </div>
    </Card>
  );
}

function PauseButtons({ disabled }: { disabled: boolean }) {
  return (
    <div className="flex flex-wrap gap-2" role="group" aria-label="Pause">
      <Button
        icon={Pause}
        tone="primary"
        size="large"
        className="grow basis-full sm:basis-auto"
        data-testid="pause"
        disabled={disabled}
        onClick={() => volunteer.pause(null)}
      >
        Pause
      </Button>
      <Button size="large" className="grow" disabled={disabled} onClick={() => volunteer.pause(15 * minute)}>
        For 15 min
      </Button>
      <Button size="large" className="grow" disabled={disabled} onClick={() => volunteer.pause(60 * minute)}>
        For 1 h
      </Button>
    </div>
  );
}

function ResumeButtons({
  pauses,
  onWorkOnBattery,
}: {
  pauses: HostSnapshot['pauses'];
  onWorkOnBattery: () => void;
}) {
  const resume = (): void => {
    volunteer.resume();
    if (pauses.battery) onWorkOnBattery();
  };
  return (
    <Button icon={Play} tone="primary" size="large" className="w-full" data-testid="resume" onClick={resume}>
      {pauses.battery ? 'Work on battery too' : 'Resume'}
    </Button>
  );
}

function Countdown({ at }: { at: number }) {
  const seconds = secondsUntil(at, useNow(true));
  return (
    <p className="flex flex-wrap items-center gap-3 tabular">
      {seconds === 0 ? 'Trying again now…' : `Trying again in ${seconds} s`}
    </p>
  );
}

/** The present task. Kept at its height, so that nothing jumps between tasks. */
function Now({ snapshot }: { snapshot: HostSnapshot }) {
  const now = snapshot.state && snapshot.status.kind === 'running' ? activity(snapshot.state) : null;
  if (now === null) return null;
  return (
    <div className="space-y-1" data-testid="activity">
      <p className="text-sm text-muted tabular">{now.text}</p>
      <Progress value={now.done} max={1} label="Samples of the present task" />
    </div>
  );
}
