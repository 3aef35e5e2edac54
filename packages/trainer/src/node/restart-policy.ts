/** Whether a headless worker whose session has failed begins afresh, with a fresh thread and engine. */
import type { Backoff, VolunteerState } from '../session/index.ts';

/** Waits before fresh threads; they begin small again once one has done useful work. */
export const restartBackoff: Backoff = { first: 1000, most: 60_000 };

/**
 * What a new engine cannot mend: wrong results, another protocol, and a device that has never been ready.
 * @param last the last state of the session; null when its thread ended before it had any.
 */
export function mayRestart(last: VolunteerState | null): boolean {
  if (last === null || last.phase === 'unsuitable' || last.problem?.code === 'PROTOCOL_MISMATCH')
    return false;
  return last.selfTest?.passed === true;
}
