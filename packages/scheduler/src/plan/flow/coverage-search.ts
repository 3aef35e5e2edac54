/**
 * Search for a placement whose coverage reaches a target flow everywhere (see `coverage.ts`), by ruin and recreate:
 * take a few devices off, put them back one by one where they fill most of what is missing, keep what is no worse.
 * What is missing, summed over the layers, falls smoothly where the least layer would not move.
 */
import type { Random } from '@tabweave/shared';
import { addCoverage, least, rateOf } from './coverage.ts';
import { costWeights } from './bound.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { copyPlacement } from './flow-problem.ts';

const ruinNoise = 0.4;

export class CoverageSearch {
  readonly #problem: FlowProblem;
  readonly #random: Random;
  readonly #weights: Float64Array;
  readonly #coverage: Float64Array;
  /** Weighted missing flow up to layer l, and weights up to layer l: sums over ranges in O(1). */
  readonly #missingBefore: Float64Array;
  readonly #weightBefore: Float64Array;
  #placement: Placement;
  #target = 0;
  /** How far a range may be off the best and still be taken for it; sweeps take the best. */
  #noise = 0;
  /** Ranges whose gain was worked out. */
  evaluations = 0;

  constructor(problem: FlowProblem, placement: Placement, random: Random) {
    this.#problem = problem;
    this.#random = random;
    const { layers } = problem;
    this.#weights = costWeights(problem) ?? new Float64Array(layers).fill(1 / layers);
    this.#coverage = new Float64Array(layers);
    this.#missingBefore = new Float64Array(layers + 1);
    this.#weightBefore = new Float64Array(layers + 1);
    for (let layer = 0; layer < layers; layer++)
      this.#weightBefore[layer + 1] = this.#weightBefore[layer]! + this.#weights[layer]!;
    this.#placement = placement;
    this.load(placement);
  }

  load(placement: Placement): void {
    this.#placement = copyPlacement(placement);
    this.#coverage.fill(0);
    for (let device = 0; device < this.#problem.devices; device++) this.#add(device, 1);
  }

  get placement(): Placement {
    return copyPlacement(this.#placement);
  }

  /** The least coverage: the flow, were links no limit. */
  get flow(): number {
    return least(this.#coverage);
  }

  /** What is missing to `target`, weighted over the layers. */
  missing(target: number): number {
    let sum = 0;
    for (let layer = 0; layer < this.#problem.layers; layer++)
      sum += this.#weights[layer]! * Math.max(0, target - this.#coverage[layer]!);
    return sum;
  }

  /** Each device in turn goes where it fills most; from nothing, this is Petals' join with free lengths. */
  sweep(target: number, order: readonly number[]): void {
    this.#target = target;
    this.#noise = 0;
    for (const device of order) {
      this.#remove(device);
      this.#insert(device);
    }
  }

  /**
   * Ruins and recreates until nothing is missing to `target` or the evaluations are used up.
   * @returns whether the target is reached.
   */
  reach(target: number, evaluations: number): boolean {
    this.#target = target;
    this.#noise = ruinNoise;
    const random = this.#random;
    const enough = target * 1e-12;
    const end = this.evaluations + evaluations;
    let missing = this.missing(target);
    let best = missing;
    let bestPlacement = this.placement;
    let idle = 0;
    while (missing > enough && this.evaluations < end) {
      this.evaluations++;
      const ruined = this.#chooseRuin();
      const before = ruined.map(
        (device) => [this.#placement.from[device]!, this.#placement.to[device]!] as const,
      );
      for (const device of ruined) this.#remove(device);
      shuffle(ruined.slice(), random).forEach((device) => this.#insert(device));
      const now = this.missing(target);
      // A little worse is let through now and then: the way out of a place that no small ruin leaves.
      if (now <= missing || random.uniform() < Math.exp((missing - now) / (0.003 * target))) {
        missing = now;
        idle = now < best ? 0 : idle + 1;
        if (now < best) {
          best = now;
          bestPlacement = this.placement;
        }
      } else {
        for (const device of ruined) this.#remove(device);
        ruined.forEach((device, index) => this.#put(device, before[index]![0], before[index]![1]));
        idle++;
      }
      if (idle > 400) {
        this.load(bestPlacement);
        missing = best;
        idle = 0;
      }
    }
    if (missing > best) {
      this.load(bestPlacement);
      missing = best;
    }
    return missing <= enough;
  }

  /** Devices about one layer (where flow is missing, more often than not) and some from anywhere. */
  #chooseRuin(): number[] {
    const { devices, layers } = this.#problem;
    const random = this.#random;
    const chosen = new Set<number>();
    const centre = random.uniform() < 0.7 ? this.#missingLayer() : random.below(layers);
    const reach = 1 + random.below(Math.max(2, Math.ceil(layers / 16)));
    const near: number[] = [];
    for (let device = 0; device < devices; device++)
      if (this.#placement.from[device]! <= centre + reach && this.#placement.to[device]! >= centre - reach)
        near.push(device);
    const local = Math.min(near.length, 1 + random.below(4));
    for (let i = 0; i < local; i++) chosen.add(near[random.below(near.length)]!);
    const anywhere = random.below(3) + (local === 0 ? 1 : 0);
    for (let i = 0; i < anywhere; i++) chosen.add(random.below(devices));
    return [...chosen];
  }

  #missingLayer(): number {
    let left = this.#random.uniform() * this.missing(this.#target);
    for (let layer = 0; layer < this.#problem.layers; layer++) {
      left -= this.#weights[layer]! * Math.max(0, this.#target - this.#coverage[layer]!);
      if (left <= 0) return layer;
    }
    return this.#problem.layers - 1;
  }

  /** Puts the device where it fills most of what is missing, or, half the time, about so; of equals, any. */
  #insert(device: number): void {
    const { layers } = this.#problem;
    const weights = this.#weights;
    const coverage = this.#coverage;
    const target = this.#target;
    const missing = this.#missingBefore;
    const weight = this.#weightBefore;
    for (let layer = 0; layer < layers; layer++)
      missing[layer + 1] = missing[layer]! + weights[layer]! * Math.max(0, target - coverage[layer]!);
    const noise = this.#random.uniform() < 0.5 ? 0 : this.#noise;
    let best = 0;
    let bestFrom = 0;
    let bestTo = 0;
    let equals = 0;
    for (let from = 0; from < layers; from++) {
      const reach = this.#problem.reach(device, from);
      if (reach <= from || missing[reach]! - missing[from]! < best) continue;
      for (let to = from + 1; to <= reach; to++) {
        if (missing[to]! - missing[from]! < best) continue;
        const rate = this.#problem.rate(device, from, to);
        if (rate * (weight[to]! - weight[from]!) < best * (1 - 1e-9)) continue;
        this.evaluations++;
        let gain = 0;
        for (let layer = from; layer < to; layer++) {
          const left = target - coverage[layer]!;
          if (left > 0) gain += weights[layer]! * (left < rate ? left : rate);
        }
        if (noise > 0) gain *= 1 - noise * this.#random.uniform();
        if (gain > best * (1 + 1e-9) || equals === 0) {
          if (gain < best) continue;
          best = gain;
          equals = 1;
          bestFrom = from;
          bestTo = to;
        } else if (gain >= best * (1 - 1e-9) && this.#random.below(++equals) === 0) {
          bestFrom = from;
          bestTo = to;
        }
      }
    }
    this.#put(device, bestFrom, bestTo);
  }

  #put(device: number, from: number, to: number): void {
    this.#placement.from[device] = from;
    this.#placement.to[device] = to;
    this.#add(device, 1);
  }

  #remove(device: number): void {
    this.#add(device, -1);
    this.#placement.from[device] = 0;
    this.#placement.to[device] = 0;
  }

  #add(device: number, sign: number): void {
    const from = this.#placement.from[device]!;
    const to = this.#placement.to[device]!;
    addCoverage(this.#coverage, from, to, sign * rateOf(this.#problem, device, from, to));
  }
}

export function shuffle(items: number[], random: Random): number[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [items[i], items[j]] = [items[j]!, items[i]!];
  }
  return items;
}
