/**
 * The batch policy: each worker's micro-batch size, their sum exactly the global batch.
 *
 * `proportional` is the proportional controller of dynamic batching (arXiv 2305.12213) and OmniLearn (arXiv
 * 2503.17469), with what they lack: times include the upload, estimates are smoothed, rounding keeps the sum exact, a
 * size of 0 is allowed, and a settled plan is changed only where the predicted gain exceeds both a narrow dead band
 * and what the noise of the estimates could feign.
 */
import { Probe } from './probe.ts';
import type { SpeedEstimate } from './speed-estimate.ts';
import { balancedSizes, equalSizes, type RoundCost } from './split.ts';

export interface WorkerSpeed {
  worker: string;
  speed: SpeedEstimate;
}

export interface BatchPolicy {
  /** Micro-batch sizes in the order of `workers` (at least one), summing to `total`. */
  plan(total: number, workers: readonly WorkerSpeed[]): number[];
}

/** Least predicted gain, as a share of the round, that a change of a settled plan must bring. */
export const deadBand = 0.05;
/** Standard errors that the gain must exceed. */
const significance = 2;

export class EqualPolicy implements BatchPolicy {
  plan(total: number, workers: readonly WorkerSpeed[]): number[] {
    return equalSizes(total, workers.length);
  }
}

export class ProportionalPolicy implements BatchPolicy {
  readonly #probe = new Probe();
  #settled: { key: string; sizes: number[] } | null = null;
  /** Plans made that differ from the one before, for whoever watches the controller. */
  changes = 0;

  plan(total: number, workers: readonly WorkerSpeed[]): number[] {
    const sizes = this.#settle(total, workers);
    const leftOut = workers.filter((_, index) => sizes[index] === 0).map(({ worker }) => worker);
    return withTrial(sizes, workers, this.#probe.next(leftOut));
  }

  #settle(total: number, workers: readonly WorkerSpeed[]): number[] {
    const costs = roundCosts(workers);
    const sizes = balancedSizes(total, costs);
    const key = JSON.stringify([total, ...workers.map(({ worker, speed }) => [worker, speed.known])]);
    const settled = this.#settled;
    if (settled?.key === key) {
      const gain = 1 - longestRound(sizes, costs) / longestRound(settled.sizes, costs);
      const noise = Math.max(
        ...workers.map(({ speed }, index) => speed.relativeError(settled.sizes[index] ?? 0)),
      );
      if (gain <= Math.max(deadBand, significance * noise)) return settled.sizes;
    }
    if (settled && !sameSizes(settled.sizes, sizes)) this.changes++;
    this.#settled = { key, sizes };
    return sizes;
  }
}

/** Costs of a round; workers of unknown speed are taken for the median of the known ones. */
export function roundCosts(workers: readonly WorkerSpeed[]): RoundCost[] {
  const known = workers.filter(({ speed }) => speed.known).map(({ speed }) => speed);
  const guess: RoundCost = {
    fixed: median(known.map((speed) => speed.fixed)) ?? 0,
    perSample: median(known.map((speed) => speed.perSample)) ?? 1,
  };
  return workers.map(({ speed }) =>
    speed.known ? { fixed: speed.fixed, perSample: speed.perSample } : guess,
  );
}

/** Moves one sample from the largest share to the worker on trial, and lets its estimate be renewed by it. */
function withTrial(
  sizes: readonly number[],
  workers: readonly WorkerSpeed[],
  onTrial: string | null,
): number[] {
  const planned = [...sizes];
  const most = Math.max(...sizes);
  if (onTrial === null || most <= 1) return planned;
  const trial = workers.findIndex(({ worker }) => worker === onTrial);
  planned[planned.indexOf(most)] = most - 1;
  planned[trial] = 1;
  workers[trial]?.speed.renew();
  return planned;
}

function longestRound(sizes: readonly number[], costs: readonly RoundCost[]): number {
  return costs.reduce((longest, { fixed, perSample }, index) => {
    const size = sizes[index] ?? 0;
    return size === 0 ? longest : Math.max(longest, fixed + perSample * size);
  }, 0);
}

function sameSizes(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((size, index) => size === b[index]);
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}
