/** The state as a shape, beside its words: never by colour alone. */
import { CircleCheck, Clock, Cpu, Pause, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { Tone } from '../headline.ts';

const icons: Record<Tone, LucideIcon> = {
  working: Cpu,
  waiting: Clock,
  paused: Pause,
  stopped: CircleCheck,
  trouble: TriangleAlert,
};

const colours: Record<Tone, string> = {
  working: 'text-good',
  waiting: 'text-muted',
  paused: 'text-muted',
  stopped: 'text-muted',
  trouble: 'text-warn',
};

export function ToneIcon({ tone }: { tone: Tone }) {
  const Icon = icons[tone];
  return (
    <Icon
      aria-hidden="true"
      className={`mt-1 size-7 shrink-0 ${colours[tone]} ${tone === 'working' ? 'motion-safe:animate-pulse' : ''}`}
    />
  );
}
