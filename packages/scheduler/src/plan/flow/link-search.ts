/**
 * Local search on the maximum flow itself, for worlds whose links limit it: shift, resize, swap and re-place ranges,
 * near the minimum cut more often than not, accepted as in simulated annealing. What coverage is missing to the
 * target counts a little, so that the many placements of equal flow are not all alike.
 */
import type { Random } from '@tabweave/shared';
import { layerCoverage } from './coverage.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { copyPlacement } from './flow-problem.ts';
import { PlacementGraph } from './graph.ts';

export interface Found {
  placement: Placement;
  throughput: number;
  /** Placements tried. */
  tried: number;
}

/** Weight of missing coverage against flow in the objective. */
const coverageWeight = 0.2;

/**
 * @param target flow that cannot be exceeded (`flowBound`), or is not worth exceeding.
 * @param tries placements to try; each costs one maximum flow.
 * @param heat loss of flow that is accepted at first more often than not, as a share of the target.
 */
export function searchLinks(
  problem: FlowProblem,
  start: Placement,
  target: number,
  tries: number,
  random: Random,
  heat = 0.02,
): Found {
  const graph = new PlacementGraph(problem);
  const now = copyPlacement(start);
  const score = (throughput: number): number => throughput - coverageWeight * shortfall(problem, now, target);
  let throughput = graph.throughput(now);
  let cut = graph.cutBoundaries(now);
  let value = score(throughput);
  let best: Found = { placement: copyPlacement(now), throughput, tried: 0 };
  let tried = 0;
  const hot = heat * target;
  const cold = 0.0005 * target;
  while (tried < tries && best.throughput < target * (1 - 1e-9)) {
    const temperature = hot * (cold / hot) ** (tried / tries);
    const changes = propose(problem, now, cut, random);
    const before = changes.map(([device]) => [device, now.from[device]!, now.to[device]!] as const);
    put(now, changes);
    tried++;
    const next = graph.throughput(now);
    const nextValue = score(next);
    if (nextValue >= value || random.uniform() < Math.exp((nextValue - value) / temperature)) {
      throughput = next;
      value = nextValue;
      cut = graph.cutBoundaries(now);
      if (throughput > best.throughput) best = { placement: copyPlacement(now), throughput, tried };
    } else put(now, before);
  }
  return { ...best, tried };
}

type Change = readonly [device: number, from: number, to: number];

function put(placement: Placement, changes: readonly Change[]): void {
  for (const [device, from, to] of changes) {
    placement.from[device] = from;
    placement.to[device] = to;
  }
}

function propose(problem: FlowProblem, now: Placement, cut: readonly number[], random: Random): Change[] {
  const { devices, layers } = problem;
  const device = random.below(devices);
  const from = now.from[device]!;
  const to = now.to[device]!;
  const step = 1 + random.below(2);
  const kind = random.uniform();
  if (from === to || kind < 0.3) {
    const near = random.uniform() < 0.7 && cut.length > 0;
    const centre = near ? cut[random.below(cut.length)]! : random.below(layers);
    const length =
      1 + random.below(Math.max(1, problem.reach(device, Math.min(centre, layers - 1)) - centre));
    return [fit(problem, device, centre - random.below(length + 1), length)];
  }
  if (kind < 0.5) return [fit(problem, device, from + (random.uniform() < 0.5 ? step : -step), to - from)];
  if (kind < 0.6) return [fit(problem, device, from, to - from + (random.uniform() < 0.5 ? step : -step))];
  if (kind < 0.7) {
    const grow = random.uniform() < 0.5 ? step : -step;
    return [fit(problem, device, from - grow, to - from + grow)];
  }
  const other = random.below(devices);
  if (kind < 0.85) {
    return [
      fit(problem, device, now.from[other]!, now.to[other]! - now.from[other]!),
      fit(problem, other, from, to - from),
    ];
  }
  // Moves a boundary: all that end or start at it follow.
  const boundary = random.uniform() < 0.5 ? from : to;
  const move = random.uniform() < 0.5 ? 1 : -1;
  const changes: Change[] = [];
  for (let d = 0; d < devices; d++) {
    const start = now.from[d]!;
    const end = now.to[d]!;
    if (start === end || (start !== boundary && end !== boundary)) continue;
    const newStart = start === boundary ? start + move : start;
    changes.push(fit(problem, d, newStart, (end === boundary ? end + move : end) - newStart));
  }
  return changes;
}

/** The range of about this start and length that the model has and the device has room for. */
function fit(problem: FlowProblem, device: number, from: number, length: number): Change {
  const { layers } = problem;
  const start = Math.min(Math.max(0, from), layers - 1);
  const end = Math.min(start + Math.max(1, length), problem.reach(device, start));
  return [device, start, Math.max(start, end)];
}

function shortfall(problem: FlowProblem, placement: Placement, target: number): number {
  const coverage = layerCoverage(problem, placement);
  let sum = 0;
  for (const value of coverage) sum += Math.max(0, target - value);
  return sum / problem.layers;
}
