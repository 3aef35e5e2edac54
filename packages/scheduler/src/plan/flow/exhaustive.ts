/**
 * All placements of a few devices, by branch and bound: a partial placement is left where even the best ranges of the
 * devices to come could not lift every layer's coverage above the best flow known.
 */
import { addCoverage, least } from './coverage.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { copyPlacement, emptyPlacement } from './flow-problem.ts';
import { PlacementGraph } from './graph.ts';

export interface Exhausted {
  /** A placement of more flow than `best`; null where there is none. */
  placement: Placement | null;
  throughput: number;
  /** Whether every placement was tried or ruled out. */
  exact: boolean;
  tried: number;
}

/** @param limit partial placements to try at most. */
export function tryAllPlacements(problem: FlowProblem, best: number, limit: number): Exhausted {
  const { devices, layers } = problem;
  const graph = new PlacementGraph(problem);
  const now = emptyPlacement(devices);
  const coverage = new Float64Array(layers);
  // The fast first: what they do decides most.
  const order = [...Array(devices).keys()].sort((d, e) => bestRate(problem, e) - bestRate(problem, d));
  /** For each depth, the most that the devices from there on could add to layer l. */
  const toCome = [new Float64Array(layers)];
  for (const device of order.toReversed()) {
    const sum = toCome[0]!.slice();
    layerRates(problem, device).forEach((rate, layer) => {
      sum[layer] = sum[layer]! + rate;
    });
    toCome.unshift(sum);
  }
  const result: Exhausted = { placement: null, throughput: best, exact: true, tried: 0 };

  const place = (depth: number): void => {
    if (depth === devices) {
      if (least(coverage) <= result.throughput * (1 + 1e-12)) return;
      const throughput = graph.throughput(now);
      if (throughput <= result.throughput * (1 + 1e-12)) return;
      result.throughput = throughput;
      result.placement = copyPlacement(now);
      return;
    }
    const device = order[depth]!;
    for (let from = 0; from < layers; from++)
      for (let to = problem.reach(device, from); to > from; to--) {
        if (result.tried >= limit) {
          result.exact = false;
          return;
        }
        result.tried++;
        const rate = problem.rate(device, from, to);
        addCoverage(coverage, from, to, rate);
        if (canReach(coverage, toCome[depth + 1]!, result.throughput)) {
          now.from[device] = from;
          now.to[device] = to;
          place(depth + 1);
        }
        addCoverage(coverage, from, to, -rate);
      }
    now.from[device] = 0;
    now.to[device] = 0;
  };
  place(0);
  return result;
}

function canReach(coverage: Float64Array, more: Float64Array, flow: number): boolean {
  for (let layer = 0; layer < coverage.length; layer++)
    if (coverage[layer]! + more[layer]! <= flow * (1 + 1e-12)) return false;
  return true;
}

function layerRates(problem: FlowProblem, device: number): Float64Array {
  const rates = new Float64Array(problem.layers);
  for (let from = 0; from < problem.layers; from++)
    for (let to = problem.reach(device, from); to > from; to--) {
      const rate = problem.rate(device, from, to);
      for (let layer = from; layer < to; layer++) rates[layer] = Math.max(rates[layer]!, rate);
    }
  return rates;
}

function bestRate(problem: FlowProblem, device: number): number {
  return layerRates(problem, device).reduce((most, rate) => Math.max(most, rate), 0);
}
