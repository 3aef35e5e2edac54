/** The one big control: pause or resume, finish or stop. */
import { Pause, Play, RotateCcw, Square } from 'lucide-react';
import { Button } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';

const minute = 60_000;

interface Properties {
  snapshot: HostSnapshot;
  onWorkOnBattery: () => void;
}

export function ControlButtons({ snapshot, onWorkOnBattery }: Properties) {
  const { state, pauses } = snapshot;
  const paused = pauses.user !== null || pauses.battery;
  const finishing = state?.phase === 'finishing';
  const resume = (): void => {
    volunteer.resume();
    if (pauses.battery) onWorkOnBattery();
  };
  if (state?.phase === 'unsuitable') {
    return (
      <Button icon={RotateCcw} className="w-full" data-testid="back" onClick={() => volunteer.reset()}>
        Back to the start, to choose another way to compute
      </Button>
    );
  }
  return (
    <>
      <div className="flex flex-wrap gap-2" role="group" aria-label="Pause">
        {/* One element for both, so that it keeps the focus when it is pressed. */}
        <Button
          icon={paused ? Play : Pause}
          tone="primary"
          size="large"
          className="grow basis-full sm:basis-auto"
          data-testid={paused ? 'resume' : 'pause'}
          disabled={finishing}
          onClick={() => (paused ? resume() : volunteer.pause(null))}
        >
          {pauses.battery ? 'Work on battery too' : paused ? 'Resume' : 'Pause'}
        </Button>
        {paused
          ? null
          : durations.map(({ label, milliseconds }) => (
              <Button
                key={label}
                size="large"
                className="grow"
                disabled={finishing}
                onClick={() => volunteer.pause(milliseconds)}
              >
                {label}
              </Button>
            ))}
      </div>
      <div className="space-y-2">
        <Button
          icon={Square}
          className="w-full"
          data-testid={finishing ? 'stop' : 'finish'}
          onClick={() => (finishing ? volunteer.stop() : volunteer.finish())}
        >
          {finishing ? 'Stop at once' : 'Finish and stop'}
        </Button>
        <p className="text-sm text-muted">
          Finish sends the piece of work in hand. Closing the tab is safe at any time too: the server gives
          the piece to someone else. The tab goes on working while it is hidden.
        </p>
      </div>
    </>
  );
}

const durations = [
  { label: 'For 15 min', milliseconds: 15 * minute },
  { label: 'For 1 h', milliseconds: 60 * minute },
];
