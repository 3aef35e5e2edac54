/**
 * Flow of a placement where links are no limit: the least, over the layers, of the sum of the rates of the devices
 * that hold the layer. That is the minimum vertex cut of Helix's graph with partial overlap: once the holders of one
 * layer are gone no chain of ranges passes it, and if none lacks its holder the chain that reaches farthest goes on.
 * Petals steers by the same sum (its T[b]).
 */
import type { FlowProblem, Placement } from './flow-problem.ts';

/** Sum over the devices that hold layer l of their rates, for every l. */
export function layerCoverage(problem: FlowProblem, { from, to }: Placement): Float64Array {
  const coverage = new Float64Array(problem.layers);
  for (let device = 0; device < problem.devices; device++)
    addCoverage(coverage, from[device]!, to[device]!, rateOf(problem, device, from[device]!, to[device]!));
  return coverage;
}

export function coverageFlow(problem: FlowProblem, placement: Placement): number {
  return least(layerCoverage(problem, placement));
}

export function rateOf(problem: FlowProblem, device: number, from: number, to: number): number {
  return from < to ? problem.rate(device, from, to) : 0;
}

export function addCoverage(coverage: Float64Array, from: number, to: number, rate: number): void {
  for (let layer = from; layer < to; layer++) coverage[layer] = coverage[layer]! + rate;
}

export function least(values: Float64Array): number {
  let minimum = Infinity;
  for (const value of values) if (value < minimum) minimum = value;
  return minimum;
}
