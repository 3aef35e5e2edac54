import type { Worker, WorkerState } from '@tabweave/shared';
import { Ban, CirclePause, Clock, Cpu, Unplug, type LucideIcon } from 'lucide-react';
import { Badge, type Tone } from '../../../ui/index.ts';

const looks: Record<WorkerState, { label: string; tone: Tone; icon: LucideIcon }> = {
  working: { label: 'Working', tone: 'good', icon: Cpu },
  idle: { label: 'Waiting', tone: 'neutral', icon: Clock },
  paused: { label: 'Paused', tone: 'warn', icon: CirclePause },
  'set-aside': { label: 'Set aside', tone: 'bad', icon: Ban },
  disconnected: { label: 'Disconnected', tone: 'neutral', icon: Unplug },
};

/** State as a badge, and why under it. */
export function WorkerStateCell({ worker }: { worker: Worker }) {
  const { label, tone, icon } = looks[worker.state];
  return (
    <div>
      <Badge tone={tone} icon={icon}>
        {label}
      </Badge>
      {worker.reason !== '' && <p className="mt-0.5 max-w-72 text-sm text-muted">{worker.reason}</p>}
    </div>
  );
}
