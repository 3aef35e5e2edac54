import type { RunStatus } from '@tabweave/shared';
import {
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleStop,
  CircleX,
  Play,
  type LucideIcon,
} from 'lucide-react';
import { Badge, type Tone } from '../../ui/index.ts';

const looks: Record<RunStatus, { label: string; tone: Tone; icon: LucideIcon }> = {
  draft: { label: 'Draft', tone: 'neutral', icon: CircleDashed },
  running: { label: 'Running', tone: 'good', icon: Play },
  paused: { label: 'Paused', tone: 'warn', icon: CirclePause },
  stopped: { label: 'Stopped', tone: 'neutral', icon: CircleStop },
  finished: { label: 'Finished', tone: 'info', icon: CircleCheck },
  failed: { label: 'Failed', tone: 'bad', icon: CircleX },
};

export function RunStatusBadge({ status }: { status: RunStatus }) {
  const { label, tone, icon } = looks[status];
  return (
    <Badge tone={tone} icon={icon}>
      {label}
    </Badge>
  );
}
