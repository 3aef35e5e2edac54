/** The volunteer's share of device time: after each piece of work the device rests for the rest of its share. */

/**
 * Milliseconds to rest after `busyMilliseconds` of work, so that work / (work + rest) = `share`.
 * @param share in (0, 1]; 1 rests never.
 */
export function restAfter(busyMilliseconds: number, share: number): number {
  return (busyMilliseconds * (1 - share)) / share;
}

/** @throws RangeError when `share` is not in (0, 1]. */
export function checkShare(share: number): number {
  if (!(share > 0 && share <= 1)) {
    throw new RangeError(
      `The duty cycle is a share of time above 0 and at most 1, for example 0.5; not ${share}.`,
    );
  }
  return share;
}
