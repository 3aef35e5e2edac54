/**
 * What is known of a worker's speed: milliseconds per sample, and milliseconds of a round beside the computing
 * (download, upload, waiting), so that a slow link counts. A round is fixed + perSample x samples.
 */
import { SmoothedMean } from './smoothed-mean.ts';

/** A clock that is coarse, or lies, may say 0. */
const leastPerSample = 1e-3;

export class SpeedEstimate {
  readonly #perSample = new SmoothedMean();
  readonly #fixed = new SmoothedMean();
  #known = false;

  /** Whether there has been an observation. */
  get known(): boolean {
    return this.#known;
  }

  /** Milliseconds of computing per sample. */
  get perSample(): number {
    return this.#perSample.mean;
  }

  /** Milliseconds of a round that do not grow with its samples. */
  get fixed(): number {
    return this.#fixed.mean;
  }

  /**
   * Takes in the times of one accepted, warm contribution. What is not a number of milliseconds is ignored.
   * @param computeMilliseconds for all `samples`
   * @param fixedMilliseconds of the round beside it
   */
  observe(samples: number, computeMilliseconds: number, fixedMilliseconds: number): void {
    const sane =
      samples > 0 &&
      Number.isFinite(computeMilliseconds) &&
      Number.isFinite(fixedMilliseconds) &&
      computeMilliseconds >= 0 &&
      fixedMilliseconds >= 0;
    if (!sane) return;
    this.#perSample.observe(Math.max(computeMilliseconds / samples, leastPerSample));
    this.#fixed.observe(fixedMilliseconds);
    this.#known = true;
  }

  /** Lets the next observation replace the estimate, which is old. */
  renew(): void {
    this.#perSample.renew();
    this.#fixed.renew();
  }

  /** Predicted milliseconds of a round of `samples`. */
  predict(samples: number): number {
    return this.fixed + this.perSample * samples;
  }

  /** Standard error of that prediction, as a share of it. */
  relativeError(samples: number): number {
    const predicted = this.predict(samples);
    return predicted > 0 ? Math.hypot(this.#fixed.error, this.#perSample.error * samples) / predicted : 0;
  }
}
