import type { RunStatus } from '@tabweave/shared';
import type { Tone } from '../../ui/index.ts';

/** Whether volunteers can help it, now or when it goes on. */
export function isOpen({ status }: { status: RunStatus }): boolean {
  return status === 'draft' || status === 'running' || status === 'paused';
}

export const statusWords: Record<RunStatus, string> = {
  draft: 'Not started',
  running: 'Running',
  paused: 'Paused',
  stopped: 'Stopped',
  finished: 'Finished',
  failed: 'Failed',
};

export const statusTones = {
  draft: 'neutral',
  running: 'good',
  paused: 'warn',
  stopped: 'neutral',
  finished: 'info',
  failed: 'bad',
} as const satisfies Record<RunStatus, Tone>;
