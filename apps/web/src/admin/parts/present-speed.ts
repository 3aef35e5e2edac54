import type { Run } from '@tabweave/shared';

/** Tokens per second; null while nobody computes, since the server then still tells the last steps' speed. */
export function presentSpeed(run: Pick<Run, 'tokensPerSecond' | 'workers'>): number | null {
  return run.workers === 0 ? null : run.tokensPerSecond;
}
