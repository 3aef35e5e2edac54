/** Whether and when a volunteer that failed begins afresh in a new Web Worker. */
import type { ProblemCode } from '@tabweave/shared';
import type { VolunteerState } from '@tabweave/trainer';

const firstMilliseconds = 1000;
const mostMilliseconds = 60_000;
/** A worker that lived this long was healthy: what comes then is a new trouble. */
const healthyMilliseconds = 5 * 60_000;

/** Refusals that trying again does not change. */
const final: readonly ProblemCode[] = [
  'PROTOCOL_MISMATCH',
  'INVALID_INPUT',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
];

export type Verdict = 'restart' | 'reload' | 'give-up';

/** What to do about a session in phase `failed`. */
export function verdict(state: Pick<VolunteerState, 'problem'>): Verdict {
  const code = state.problem?.code;
  if (code === undefined) return 'restart';
  if (code === 'PROTOCOL_MISMATCH') return 'reload';
  return final.includes(code) ? 'give-up' : 'restart';
}

/** Wait before the restart after failure number `failures` in a row (from 1): 1 s, doubling to 60 s. */
export function restartDelay(failures: number): number {
  return Math.min(mostMilliseconds, firstMilliseconds * 2 ** Math.min(failures - 1, 30));
}

/**
 * Failures in a row, with one more: counted anew when the worker had done something useful, or lived long.
 * @param life what the failed worker did: milliseconds lived, contributions accepted.
 */
export function countFailure(failures: number, life: { milliseconds: number; accepted: number }): number {
  return life.accepted > 0 || life.milliseconds >= healthyMilliseconds ? 1 : failures + 1;
}
