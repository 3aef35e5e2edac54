/** Placements of other systems, for comparison and to start from. */
import type { Random } from '@tabweave/shared';
import { addCoverage } from './coverage.ts';
import { shuffle } from './coverage-search.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { emptyPlacement } from './flow-problem.ts';

/**
 * Petals: devices join one by one, each with as many layers as fit, where the sorted coverage of the window is the
 * least (arXiv 2312.08361, appendix D; Helix's baseline shuffles the order of joining).
 */
export function petalsPlacement(problem: FlowProblem, random: Random): Placement {
  const { layers, devices } = problem;
  const coverage = new Float64Array(layers);
  const placement = emptyPlacement(devices);
  for (const device of shuffle([...Array(devices).keys()], random)) {
    let best: { from: number; to: number; window: Float64Array } | null = null;
    for (let from = 0; from < layers; from++) {
      const to = problem.reach(device, from);
      // A window within the one before it is that one cut short.
      if (to <= from || (from > 0 && problem.reach(device, from - 1) >= to)) continue;
      const window = coverage.slice(from, to).sort();
      if (best === null || weaker(window, best.window)) best = { from, to, window };
    }
    if (best === null) continue;
    placement.from[device] = best.from;
    placement.to[device] = best.to;
    addCoverage(coverage, best.from, best.to, problem.rate(device, best.from, best.to));
  }
  return placement;
}

function weaker(a: Float64Array, b: Float64Array): boolean {
  for (let index = 0; index < Math.min(a.length, b.length); index++)
    if (a[index] !== b[index]) return a[index]! < b[index]!;
  return a.length > b.length;
}

/**
 * SWARM: stages of equal numbers of layers; the fastest device first, each to the stage of least rate (as in Helix's
 * baseline). Devices without room for a stage hold nothing.
 * @param stages number of stages; where not given, the fewest of which every device has room for every one, or, where
 *   there is no such number, that of best flow.
 */
export function equalStages(problem: FlowProblem, stages?: number): Placement {
  if (stages !== undefined) return inEqualStages(problem, stages);
  let best = emptyPlacement(problem.devices);
  let bestFlow = 0;
  for (let count = 1; count <= problem.layers; count++) {
    const placement = inEqualStages(problem, count);
    if (allFit(problem, stageCuts(problem.layers, count))) return placement;
    const flow = stageFlow(problem, placement, count);
    if (flow > bestFlow) {
      bestFlow = flow;
      best = placement;
    }
  }
  return best;
}

function allFit(problem: FlowProblem, cuts: readonly number[]): boolean {
  for (let device = 0; device < problem.devices; device++)
    for (let stage = 0; stage + 1 < cuts.length; stage++)
      if (problem.reach(device, cuts[stage]!) < cuts[stage + 1]!) return false;
  return true;
}

function stageCuts(layers: number, stages: number): number[] {
  return Array.from({ length: stages + 1 }, (_, index) => Math.round((index * layers) / stages));
}

function inEqualStages(problem: FlowProblem, stages: number): Placement {
  const placement = emptyPlacement(problem.devices);
  const cuts = stageCuts(problem.layers, stages);
  const middle = stages >> 1;
  const speed = (device: number): number =>
    problem.reach(device, cuts[middle]!) >= cuts[middle + 1]!
      ? problem.rate(device, cuts[middle]!, cuts[middle + 1]!)
      : 0;
  const speeds = Array.from({ length: problem.devices }, (_, device) => speed(device));
  const rates = new Float64Array(stages);
  for (const device of [...speeds.keys()].sort((d, e) => speeds[e]! - speeds[d]! || d - e)) {
    let stage = -1;
    for (let i = 0; i < stages; i++)
      if (problem.reach(device, cuts[i]!) >= cuts[i + 1]! && (stage < 0 || rates[i]! < rates[stage]!))
        stage = i;
    if (stage < 0) continue;
    placement.from[device] = cuts[stage]!;
    placement.to[device] = cuts[stage + 1]!;
    rates[stage] = rates[stage]! + problem.rate(device, cuts[stage]!, cuts[stage + 1]!);
  }
  return placement;
}

function stageFlow(problem: FlowProblem, { from, to }: Placement, stages: number): number {
  const cuts = stageCuts(problem.layers, stages);
  const rates = new Float64Array(stages);
  for (let device = 0; device < problem.devices; device++)
    if (from[device]! < to[device]!) {
      const stage = cuts.indexOf(from[device]!);
      rates[stage] = rates[stage]! + problem.rate(device, from[device]!, to[device]!);
    }
  return Math.min(...rates);
}

/**
 * Separate pipelines: devices of one kind make pipelines of their own, as many as have room for the whole model, each
 * of equal stages; kinds that together cannot hold it are left over. Returned one placement for each kind, since
 * nothing flows from kind to kind.
 * @param kinds kind of device d (its machine type).
 */
export function separatePipelines(problem: FlowProblem, kinds: readonly string[]): Placement[] {
  return [...new Set(kinds)].flatMap((kind) => {
    const members = [...kinds.keys()].filter((device) => kinds[device] === kind);
    let best: Placement | null = null;
    let bestFlow = 0;
    for (let count = 1; count <= Math.min(members.length, problem.layers); count++) {
      const cuts = stageCuts(problem.layers, count);
      const placement = emptyPlacement(problem.devices);
      const rates = new Float64Array(count);
      members.forEach((device, index) => {
        const stage = index % count;
        if (problem.reach(device, cuts[stage]!) < cuts[stage + 1]!) return;
        placement.from[device] = cuts[stage]!;
        placement.to[device] = cuts[stage + 1]!;
        rates[stage] = rates[stage]! + problem.rate(device, cuts[stage]!, cuts[stage + 1]!);
      });
      const flow = Math.min(...rates);
      if (flow > bestFlow) {
        bestFlow = flow;
        best = placement;
      }
    }
    return best === null ? [] : [best];
  });
}

/** Holmes: one chain, each device as many layers as its share of the speed, as far as they fit. */
export function speedProportional(problem: FlowProblem): Placement {
  const { layers, devices } = problem;
  const placement = emptyPlacement(devices);
  const middle = layers >> 1;
  const speeds = Array.from({ length: devices }, (_, device) =>
    problem.reach(device, middle) > middle ? problem.rate(device, middle, middle + 1) : 0,
  );
  const whole = speeds.reduce((sum, speed) => sum + speed, 0);
  let sum = 0;
  let from = 0;
  for (const device of [...speeds.keys()].sort((d, e) => speeds[e]! - speeds[d]! || d - e)) {
    sum += speeds[device]!;
    const to = Math.min(Math.round((layers * sum) / whole), problem.reach(device, from));
    if (from >= layers || to <= from) continue;
    placement.from[device] = from;
    placement.to[device] = to;
    from = to;
  }
  return placement;
}
