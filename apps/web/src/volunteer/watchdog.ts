/**
 * Tells a worker that hangs from a page that slept. Only time that the page itself was awake counts as silence: a
 * laptop that wakes up, or a hidden tab whose timers run once a minute, is no reason to end a healthy worker.
 */

/** A pass on a slow back end blocks the worker's event loop for a long time; silence must be longer than that. */
const silenceMilliseconds = 150_000;
/** Of a gap between two checks at most this much is counted: hidden tabs check once a minute. */
const gapMilliseconds = 60_000;

export class Watchdog {
  #silence = 0;
  #checkedAt: number;

  constructor(now: number) {
    this.#checkedAt = now;
  }

  beat(): void {
    this.#silence = 0;
  }

  /** @returns whether the worker has been silent for too long. */
  check(now: number): boolean {
    this.#silence += Math.min(Math.max(0, now - this.#checkedAt), gapMilliseconds);
    this.#checkedAt = now;
    return this.#silence > silenceMilliseconds;
  }
}
