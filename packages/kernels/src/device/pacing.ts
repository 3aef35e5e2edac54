/**
 * How much work goes into one submit. Drivers stop a device whose queue seems stuck (about two seconds on Windows), and
 * other programs wait while a submit runs, so work is cut by a budget in milliseconds; the rate at which the device
 * works is learnt from what has been measured.
 */
import type { DeviceTraits } from '../kernel/kernel.ts';

/** Milliseconds that a submit should take. */
export const submitBudget = 250;

/** Operations per millisecond before anything is measured: low, so that the first submits err on the short side. */
const assumedRate = { software: 5e5, gpu: 5e7 } as const;
/** How far one measurement moves the estimate. */
const weight = 0.3;

export class Pacing {
  readonly #budget: number;
  #rate: number;
  #measured = false;

  constructor(traits: Pick<DeviceTraits, 'software'>, budget = submitBudget) {
    this.#budget = budget;
    this.#rate = traits.software ? assumedRate.software : assumedRate.gpu;
  }

  /** Operations per millisecond, as far as is known. */
  get rate(): number {
    return this.#rate;
  }

  get flopsPerSubmit(): number {
    return this.#rate * this.#budget;
  }

  /** In how many parts a launch must go: a power of two, so that there are few ways to cut, and at most `workgroups`. */
  parts(flops: number, workgroups: number): number {
    if (!(flops > this.flopsPerSubmit)) return 1;
    return Math.min(workgroups, 2 ** Math.ceil(Math.log2(flops / this.flopsPerSubmit)));
  }

  /** A slower measurement counts at once, a faster one slowly. */
  learn(flops: number, milliseconds: number): void {
    if (!(flops > 0 && milliseconds > 0)) return;
    const rate = flops / milliseconds;
    this.#rate = this.#measured && rate > this.#rate ? this.#rate + weight * (rate - this.#rate) : rate;
    this.#measured = true;
  }
}
