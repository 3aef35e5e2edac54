/**
 * Upper bounds on the flow of any placement.
 *
 * Every micro-batch needs all layers, each from one device that holds it, and no device passes on more than the whole
 * flow F. So for any weights w of the layers that sum to 1, F is at most the sum over devices of the most weighted
 * flow that one can give: max over its ranges of w(range) * min(rate, F). The largest F that satisfies this is a
 * bound; it is what is left of Helix's program when ranges may be held in fractions and links are no limit. It may be
 * above the optimum (ranges are whole, links are not free), never below it.
 */
import type { FlowProblem } from './flow-problem.ts';

/** Sums of shares end a few units in the last place off 1, which must not make the bound too low. */
const tolerance = 1e-9;

/** The best of the ranges of one device: rates falling, weights growing. */
interface Frontier {
  rates: number[];
  weights: number[];
}

/** Were one device's flow not capped by the whole: the best (share of the layers) * rate of each, summed. */
export function rateSumBound(problem: FlowProblem): number {
  return weightedFlow(frontiers(problem, equalWeights(problem)), Infinity);
}

/** The capped bound, for equal weights and for weights by the layers' cost, whichever is lower. */
export function flowBound(problem: FlowProblem): number {
  const equal = boundFor(problem, equalWeights(problem));
  const weights = costWeights(problem);
  return weights === null ? equal : Math.min(equal, boundFor(problem, weights));
}

/**
 * The bound for the worst weights, found by multiplicative updates: layers that the devices' best ranges cover much
 * count less, those that they leave count more. Each round is a bound by itself, since a flow below the bound so far
 * satisfies the condition with rates capped there.
 * @param rounds each works out every range of every device.
 * @param start a bound to refine; from nothing, the first round gives `rateSumBound`.
 */
export function refinedBound(problem: FlowProblem, rounds: number, start = Infinity): number {
  const { layers, devices } = problem;
  const tables = Array.from({ length: devices }, (_, device) => rangeRates(problem, device));
  const logWeights = new Float64Array(layers);
  const coverage = new Float64Array(layers);
  const before = new Float64Array(layers + 1);
  let bound = start;
  for (let round = 0; round < rounds; round++) {
    let sum = 0;
    for (let layer = 0; layer < layers; layer++) {
      sum += Math.exp(logWeights[layer]!);
      before[layer + 1] = sum;
    }
    coverage.fill(0);
    let flow = 0;
    for (const { starts, rates } of tables) {
      let most = 0;
      let bestFrom = 0;
      let bestTo = 0;
      for (let from = 0; from < layers; from++)
        for (let index = starts[from]!, to = from + 1; index < starts[from + 1]!; index++, to++) {
          const gain = (before[to]! - before[from]!) * Math.min(rates[index]!, bound);
          if (gain <= most) continue;
          most = gain;
          bestFrom = from;
          bestTo = to;
        }
      flow += most / sum;
      if (bestFrom < bestTo) {
        const rate = Math.min(rates[starts[bestFrom]! + bestTo - bestFrom - 1]!, bound);
        for (let layer = bestFrom; layer < bestTo; layer++) coverage[layer] = coverage[layer]! + rate;
      }
    }
    bound = Math.min(bound, flow * (1 + tolerance));
    const step = 1 / Math.sqrt(4 + round);
    for (let layer = 0; layer < layers; layer++)
      logWeights[layer] = logWeights[layer]! - step * Math.max(-1, Math.min(1, coverage[layer]! / bound - 1));
  }
  return bound;
}

/** Rates of [from, from + 1), [from, from + 2) and so on from `starts[from]` on. */
function rangeRates(problem: FlowProblem, device: number): { starts: Int32Array; rates: Float64Array } {
  const starts = new Int32Array(problem.layers + 1);
  for (let from = 0; from < problem.layers; from++)
    starts[from + 1] = starts[from]! + problem.reach(device, from) - from;
  const rates = new Float64Array(starts[problem.layers]!);
  for (let from = 0, index = 0; from < problem.layers; from++)
    for (let to = from + 1, end = problem.reach(device, from); to <= end; to++)
      rates[index++] = problem.rate(device, from, to);
  return { starts, rates };
}

/** Seconds of each layer on a device that can hold them all one by one, as shares of their sum; null if none can. */
export function costWeights(problem: FlowProblem): Float64Array | null {
  for (let device = 0; device < problem.devices; device++) {
    const seconds = Float64Array.from({ length: problem.layers }, (_, layer) => {
      const rate = problem.reach(device, layer) > layer ? problem.rate(device, layer, layer + 1) : 0;
      return rate > 0 ? 1 / rate : Infinity;
    });
    const sum = seconds.reduce((total, value) => total + value, 0);
    if (sum > 0 && sum < Infinity) return seconds.map((value) => value / sum);
  }
  return null;
}

function equalWeights({ layers }: FlowProblem): Float64Array {
  return new Float64Array(layers).fill(1 / layers);
}

/** g(F) / F falls, where g is the weighted flow: bisection finds where it crosses 1. */
function boundFor(problem: FlowProblem, weights: Float64Array): number {
  const table = frontiers(problem, weights);
  let low = 0;
  let high = weightedFlow(table, Infinity);
  const reached = (flow: number): boolean => weightedFlow(table, flow) >= flow * (1 - tolerance);
  if (reached(high)) return high;
  for (let round = 0; round < 60; round++) {
    const middle = (low + high) / 2;
    if (reached(middle)) low = middle;
    else high = middle;
  }
  return high;
}

function frontiers(problem: FlowProblem, weights: Float64Array): Frontier[] {
  return Array.from({ length: problem.devices }, (_, device) => {
    const ranges: { rate: number; weight: number }[] = [];
    for (let from = 0; from < problem.layers; from++) {
      let weight = 0;
      for (let to = from + 1, end = problem.reach(device, from); to <= end; to++) {
        weight += weights[to - 1]!;
        ranges.push({ rate: problem.rate(device, from, to), weight });
      }
    }
    ranges.sort((a, b) => b.rate - a.rate || b.weight - a.weight);
    const frontier: Frontier = { rates: [], weights: [] };
    let heaviest = 0;
    for (const { rate, weight } of ranges) {
      if (weight <= heaviest) continue;
      heaviest = weight;
      frontier.rates.push(rate);
      frontier.weights.push(weight);
    }
    return frontier;
  });
}

function weightedFlow(table: readonly Frontier[], cap: number): number {
  let sum = 0;
  for (const { rates, weights } of table) {
    let most = 0;
    for (let index = 0; index < rates.length; index++)
      most = Math.max(most, weights[index]! * Math.min(rates[index]!, cap));
    sum += most;
  }
  return sum;
}
