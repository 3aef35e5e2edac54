import { Random } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { layerCoverage } from './coverage.ts';
import { checkPlacement } from './flow-problem.ts';
import type { FlowProblem } from './flow-problem.ts';
import { placementFlow } from './graph.ts';
import { equalStages, petalsPlacement, separatePipelines, speedProportional } from './seeds.ts';

/** Device d passes speeds[d] / k with k layers, and has room for rooms[d]. */
function problemOf(layers: number, speeds: number[], rooms: number[]): FlowProblem {
  return {
    layers,
    devices: speeds.length,
    rate: (device, from, to) => speeds[device]! / (to - from),
    reach: (device, from) => Math.min(layers, from + rooms[device]!),
    link: () => Infinity,
    source: () => Infinity,
    sink: () => Infinity,
  };
}

describe('seeds', () => {
  it('of Petals: each joins with all that fits, where the weakest layers are', () => {
    const problem = problemOf(6, [6, 6, 6], [3, 3, 3]);
    const placement = petalsPlacement(problem, new Random(1));
    checkPlacement(problem, placement);
    const starts = [...placement.from].sort();
    // The first at 0, the second where nothing is, the third at the first of the equally weak.
    expect(starts).toEqual([0, 0, 3]);
    expect([...layerCoverage(problem, placement)]).toEqual([4, 4, 4, 2, 2, 2]);
  });

  it('of SWARM: the fewest equal stages that fit all, the fastest first to the weakest stage', () => {
    const problem = problemOf(6, [8, 4, 4, 1], [3, 3, 4, 6]);
    const placement = equalStages(problem);
    expect([...placement.to].map((to, device) => to - placement.from[device]!)).toEqual([3, 3, 3, 3]);
    // 8 to the first stage, 4 and 4 to the second, 1 to the first of the two that are now equal.
    expect([...placement.from]).toEqual([0, 3, 3, 0]);
    expect(placementFlow(problem, placement).throughput).toBeCloseTo(8 / 3, 8);
    expect(placementFlow(problem, equalStages(problem, 3)).throughput).toBeGreaterThan(0);
  });

  it('of separate pipelines: one for each kind that has room for the model', () => {
    const problem = problemOf(6, [8, 8, 2, 2, 2, 9], [3, 3, 2, 2, 2, 2]);
    const placements = separatePipelines(problem, ['a', 'a', 'b', 'b', 'b', 'c']);
    expect(placements).toHaveLength(2);
    const flows = placements.map((placement) => placementFlow(problem, placement).throughput);
    expect(flows).toEqual([8 / 3, 1]);
  });

  it('by speed: one chain, layers in proportion', () => {
    const problem = problemOf(8, [2, 4, 2], [8, 8, 8]);
    const placement = speedProportional(problem);
    expect([...placement.to].map((to, device) => to - placement.from[device]!)).toEqual([2, 4, 2]);
    expect(placementFlow(problem, placement).throughput).toBe(1);
  });
});
