/**
 * Why a volunteer does not compute now. Several reasons can hold at one time (the volunteer's own wish, the battery);
 * work goes on when none is left.
 */

/** `until`: epoch milliseconds, or null for as long as the volunteer wishes. */
export interface UserPause {
  until: number | null;
}

export interface Pauses {
  user: UserPause | null;
  /** Paused because the device runs on battery, as the volunteer asked. */
  battery: boolean;
}

export const noPauses: Pauses = { user: null, battery: false };

/** A pause whose time has come is lifted. */
export function expire(pauses: Pauses, now: number): Pauses {
  const until = pauses.user?.until ?? null;
  return until !== null && now >= until ? { ...pauses, user: null } : pauses;
}

/** Milliseconds until `expire` would change something; null for never. */
export function expiresIn(pauses: Pauses, now: number): number | null {
  const until = pauses.user?.until ?? null;
  return until === null ? null : Math.max(0, until - now);
}

/** The reason in words; null when nothing holds. The volunteer's own wish is named first. */
export function pauseReason(pauses: Pauses, clock: (at: number) => string = clockTime): string | null {
  if (pauses.user) {
    return pauses.user.until === null
      ? 'paused until you resume'
      : `paused until ${clock(pauses.user.until)}`;
  }
  return pauses.battery ? 'paused: on battery' : null;
}

function clockTime(at: number): string {
  return new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
