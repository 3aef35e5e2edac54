/** Whether a headless worker whose session has failed begins afresh, with a fresh thread and engine. */
import type { VolunteerState } from '../session/index.ts';

const firstMilliseconds = 1000;
const mostMilliseconds = 60_000;

/**
 * What a new engine cannot mend: wrong results, another protocol, and a device that has never been ready.
 * @param last the last state of the session; null when its thread ended before it had any.
 */
export function mayRestart(last: VolunteerState | null): boolean {
  if (last === null || last.phase === 'unsuitable' || last.problem?.code === 'PROTOCOL_MISMATCH')
    return false;
  return last.selfTest?.passed === true;
}

/** Milliseconds before restart number `attempt` (0 for the first): 1 s, doubling to 60 s. */
export function restartDelay(attempt: number): number {
  return Math.min(mostMilliseconds, firstMilliseconds * 2 ** Math.min(attempt, 30));
}
