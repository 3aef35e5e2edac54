/**
 * A smoothed mean with a spread, that settles under noise and yet follows a real change at once.
 *
 * OmniLearn (arXiv 2503.17469) averages over an epoch, dynamic batching (arXiv 2305.12213) over a window. Here the gain
 * falls from 1 to `leastGain` as observations come in (which is what bias correction of an exponential average does
 * at first). A large deviation is held back to the edge of what is credible (a tab that was busy once); two of them
 * in succession, in one direction, start the mean afresh. A second start soon after the first is taken for
 * oscillation: it leaves a wide spread, within which the swings are averaged instead of chased.
 */
const leastGain = 0.1;
/** Deviations, in spreads, that count as large. */
const largeDeviation = 3;
/** Spread assumed before there are observations to tell, and the least believed, as shares of the mean. */
const assumedSpread = 0.12;
const leastSpread = 0.04;
/** Observations that tell a spread. */
const enoughObservations = 7;
/** A start within so many observations of the last one is oscillation. */
const oscillationWindow = 12;

export class SmoothedMean {
  #mean = 0;
  #variance = 0;
  #count = 0;
  /** Last large deviation, not yet believed. */
  #suspect: number | null = null;
  #sinceRestart = Infinity;

  get known(): boolean {
    return this.#count > 0;
  }

  get mean(): number {
    return this.#mean;
  }

  /** Standard error of the mean. */
  get error(): number {
    if (this.#count === 0) return 0;
    const gain = Math.max(1 / this.#count, leastGain);
    return this.#spread() * Math.sqrt(gain / (2 - gain));
  }

  /** @param value finite and not negative. */
  observe(value: number): void {
    this.#sinceRestart++;
    if (this.#count === 0) {
      this.#mean = value;
      this.#count = 1;
      return;
    }
    const credible = largeDeviation * this.#spread();
    const deviation = value - this.#mean;
    const suspect = this.#suspect;
    this.#suspect = null;
    if (Math.abs(deviation) > credible) {
      if (suspect !== null && suspect > this.#mean === value > this.#mean) {
        this.#restart((suspect + value) / 2);
        return;
      }
      this.#suspect = value;
    }
    const believed = Math.max(-credible, Math.min(credible, deviation));
    this.#count++;
    const gain = Math.max(1 / this.#count, leastGain);
    this.#mean += gain * believed;
    this.#variance = (1 - gain) * (this.#variance + gain * believed * believed);
  }

  /** Forgets all but the value until the next observation, which then replaces it. */
  renew(): void {
    this.#count = 0;
    this.#variance = 0;
    this.#suspect = null;
  }

  #restart(mean: number): void {
    const oscillates = this.#sinceRestart < oscillationWindow;
    const jump = mean - this.#mean;
    this.#mean = oscillates ? this.#mean + jump / 2 : mean;
    this.#variance = oscillates ? (jump * jump) / 4 : 0;
    this.#count = oscillates ? enoughObservations : 2;
    this.#sinceRestart = 0;
  }

  #spread(): number {
    // Few observations say little of their spread.
    const trust = Math.min(1, (this.#count - 1) / (enoughObservations - 1));
    const blended = trust * Math.sqrt(this.#variance) + (1 - trust) * assumedSpread * this.#mean;
    return Math.max(blended, leastSpread * this.#mean);
  }
}
