/**
 * What is known of a worker's speed: milliseconds per sample and per round beside it, each a smoothed mean with a
 * spread. A round is fixed + perSample x samples; download, upload and overhead are fixed, so that upload time counts.
 *
 * OmniLearn averages over an epoch and dynamic batching over a window; here the gain falls from 1 to `leastGain` as
 * observations come in, which settles under noise, and two large deviations in one direction start it afresh, which
 * follows a real change of speed at once.
 */
const leastGain = 0.1;
/** Deviations, in spreads, that count as large. */
const largeDeviation = 3;
/** Spread assumed before there are observations to tell, and the least believed, as shares of the mean. */
const assumedSpread = 0.12;
const leastSpread = 0.04;

export class SmoothedMean {
  #mean = 0;
  #variance = 0;
  #count = 0;
  /** Last large deviation, not yet believed. */
  #suspect: number | null = null;

  get known(): boolean {
    return this.#count > 0;
  }

  get mean(): number {
    return this.#mean;
  }

  /** Standard error of the mean as a share of it. */
  get relativeError(): number {
    if (this.#count === 0 || this.#mean <= 0) return 0;
    const gain = Math.max(1 / this.#count, leastGain);
    return (this.#spread() / this.#mean) * Math.sqrt(gain / (2 - gain));
  }

  observe(value: number): void {
    if (this.#count === 0) {
      this.#reset(value, 1);
      return;
    }
    const deviation = value - this.#mean;
    if (Math.abs(deviation) > largeDeviation * this.#spread()) {
      const suspect = this.#suspect;
      if (suspect !== null && suspect > this.#mean === value > this.#mean) {
        this.#reset((suspect + value) / 2, 2);
        return;
      }
      // A single outlier (a tab that was busy once) is held back, not believed.
      this.#suspect = value;
      return;
    }
    this.#suspect = null;
    this.#count++;
    const gain = Math.max(1 / this.#count, leastGain);
    this.#mean += gain * deviation;
    this.#variance = (1 - gain) * (this.#variance + gain * deviation * deviation);
  }

  #reset(mean: number, count: number): void {
    this.#mean = mean;
    this.#variance = 0;
    this.#count = count;
    this.#suspect = null;
  }

  #spread(): number {
    const measured = Math.sqrt(this.#variance);
    // Few observations say little of their spread.
    const trust = Math.min(1, (this.#count - 1) / 6);
    const blended = trust * measured + (1 - trust) * assumedSpread * this.#mean;
    return Math.max(blended, leastSpread * this.#mean);
  }
}

export class SpeedEstimate {
  readonly #perSample = new SmoothedMean();
  readonly #fixed = new SmoothedMean();

  get known(): boolean {
    return this.#perSample.known;
  }

  /** Milliseconds of computing per sample. */
  get perSample(): number {
    return this.#perSample.mean;
  }

  /** Milliseconds of a round that do not grow with its samples. */
  get fixed(): number {
    return this.#fixed.mean;
  }

  /** Standard error of a predicted round, as a share of it. */
  get relativeError(): number {
    return this.#perSample.relativeError;
  }

  /** @param computeMilliseconds for all `samples`; @param transferMilliseconds download and upload. */
  observe(samples: number, computeMilliseconds: number, transferMilliseconds: number): void {
    if (samples <= 0 || !(computeMilliseconds >= 0) || !(transferMilliseconds >= 0)) return;
    this.#perSample.observe(Math.max(computeMilliseconds / samples, 1e-3));
    this.#fixed.observe(transferMilliseconds);
  }

  /** Predicted milliseconds of a round of `samples`. */
  predict(samples: number): number {
    return this.fixed + this.perSample * samples;
  }
}
