/** Small random flow problems, and all placements of one. */
import type { Random } from '@tabweave/shared';
import type { FlowProblem, Placement } from '../flow-problem.ts';
import { PlacementGraph } from '../graph.ts';

export interface RandomProblemOptions {
  devices: number;
  layers: number;
  /** Whether links limit: some are slow, some are not there. */
  links: boolean;
  /** Whether layers differ in cost; rates depend on the number of layers alone where they do not. */
  unequalLayers?: boolean;
}

export function randomProblem(
  random: Random,
  { devices, layers, links, unequalLayers = false }: RandomProblemOptions,
): FlowProblem {
  const costs = Array.from({ length: layers }, () => (unequalLayers ? 0.2 + 2 * random.uniform() : 1));
  const speeds = Array.from({ length: devices }, () => 1 + 9 * random.uniform());
  const fixed = Array.from({ length: devices }, () => 0.1 * random.uniform());
  const rooms = Array.from({ length: devices }, () =>
    Math.min(layers, Math.ceil(layers / devices) + random.below(3)),
  );
  const capacity = (): number =>
    random.uniform() < 0.15 ? 0 : links ? 0.2 + 4 * random.uniform() : Infinity;
  const link = Array.from({ length: devices }, () => Array.from({ length: devices }, capacity));
  const source = Array.from({ length: devices }, () => (links ? 2 + 8 * random.uniform() : Infinity));
  return {
    layers,
    devices,
    rate: (device, from, to) => {
      let cost = 0;
      for (let layer = from; layer < to; layer++) cost += costs[layer]!;
      return 1 / (fixed[device]! + cost / speeds[device]!);
    },
    reach: (device, from) => Math.min(layers, from + rooms[device]!),
    link: (d, e) => (links ? link[d]![e]! : Infinity),
    source: (device) => source[device]!,
    sink: () => Infinity,
  };
}

/** The largest flow over every placement; their number grows as (ranges of a device) to the power of the devices. */
export function bruteForce(problem: FlowProblem): number {
  const graph = new PlacementGraph(problem);
  const placement: Placement = { from: new Int32Array(problem.devices), to: new Int32Array(problem.devices) };
  let best = 0;
  const place = (device: number): void => {
    if (device === problem.devices) {
      best = Math.max(best, graph.throughput(placement));
      return;
    }
    for (let from = 0; from < problem.layers; from++)
      for (let to = from + 1; to <= problem.reach(device, from); to++) {
        placement.from[device] = from;
        placement.to[device] = to;
        place(device + 1);
      }
  };
  place(0);
  return best;
}
