/** Growing waits between attempts, so that a server that comes back is not met by everyone at once. */

export interface Backoff {
  /** Wait after the first failure, milliseconds. */
  first: number;
  /** No wait is longer. */
  most: number;
}

export const reconnectBackoff: Backoff = { first: 1000, most: 30_000 };
export const downloadBackoff: Backoff = { first: 500, most: 8000 };

/**
 * Milliseconds to wait after failure number `attempt` (0 for the first): doubling, then spread over the upper half
 * (equal jitter; M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog 2015).
 * @param random uniform in [0, 1).
 */
export function backoffDelay(attempt: number, backoff: Backoff, random: () => number = Math.random): number {
  const full = Math.min(backoff.most, backoff.first * 2 ** Math.min(attempt, 30));
  return full / 2 + (full / 2) * random();
}
