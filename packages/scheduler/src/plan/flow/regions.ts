/** Regions: groups of devices whose links to each other carry a whole flow, which those between groups do not. */
import type { FlowProblem } from './flow-problem.ts';

/** More groups than this are no regions; the order of so many segments would be a search of its own. */
const mostRegions = 6;

export interface Regions {
  /** Region of device d. */
  regionOf: number[];
  count: number;
  /** Mean capacity of a link from a device of region g to one of region h. */
  between: number[][];
}

/** @returns null where all devices are one region, or regions are more than six. */
export function findRegions(problem: FlowProblem, flow: number): Regions | null {
  const { devices, layers } = problem;
  const boundary = Math.max(1, layers >> 1);
  const regionOf = new Array<number>(devices).fill(-1);
  let count = 0;
  for (let first = 0; first < devices; first++) {
    if (regionOf[first]! >= 0) continue;
    if (count === mostRegions) return null;
    regionOf[first] = count;
    const open = [first];
    for (let d = open.pop(); d !== undefined; d = open.pop())
      for (let e = 0; e < devices; e++) {
        if (regionOf[e]! >= 0) continue;
        if (Math.min(problem.link(d, e, boundary), problem.link(e, d, boundary)) < flow) continue;
        regionOf[e] = count;
        open.push(e);
      }
    count++;
  }
  return count === 1 ? null : { regionOf, count, between: meanLinks(problem, regionOf, count, boundary) };
}

function meanLinks(
  problem: FlowProblem,
  regionOf: readonly number[],
  count: number,
  boundary: number,
): number[][] {
  const sums = Array.from({ length: count }, () => new Float64Array(count));
  const pairs = Array.from({ length: count }, () => new Float64Array(count));
  regionOf.forEach((g, d) =>
    regionOf.forEach((h, e) => {
      if (g === h) return;
      sums[g]![h] = sums[g]![h]! + problem.link(d, e, boundary);
      pairs[g]![h] = pairs[g]![h]! + 1;
    }),
  );
  return sums.map((row, g) => Array.from(row, (sum, h) => (g === h ? Infinity : sum / pairs[g]![h]!)));
}

/** Every order of the regions; 720 at most. */
export function regionOrders(count: number): number[][] {
  if (count === 1) return [[0]];
  return regionOrders(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
  );
}
