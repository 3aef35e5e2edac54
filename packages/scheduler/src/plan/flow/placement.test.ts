import { Random } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { geoClusters, mixedCluster, singleCluster } from './clusters.ts';
import { checkPlacement } from './flow-problem.ts';
import type { FlowProblem } from './flow-problem.ts';
import { placementFlow } from './graph.ts';
import { placeRanges } from './placement.ts';
import { equalStages, petalsPlacement } from './seeds.ts';
import { helixProgram, placementOf } from './testing/helix-milp.ts';
import { loadSolver } from './testing/highs.ts';
import { bruteForce, randomProblem } from './testing/random-problems.ts';

function shareOf(problem: FlowProblem, best: number, evaluations: number): number {
  const found = placeRanges(problem, { evaluations, random: new Random(1) });
  checkPlacement(problem, found.placement);
  expect(placementFlow(problem, found.placement).throughput).toBeCloseTo(found.throughput, 8);
  expect(found.throughput).toBeLessThanOrEqual(best * (1 + 1e-9) + 1e-12);
  expect(found.bound).toBeGreaterThanOrEqual(best * (1 - 1e-9));
  return best > 0 ? found.throughput / best : 1;
}

describe('placeRanges', () => {
  it('finds the best of all placements on 200 small cases without limits of links', () => {
    for (let seed = 0; seed < 200; seed++) {
      const problem = randomProblem(new Random(seed), {
        devices: 3,
        layers: 5,
        links: false,
        unequalLayers: seed % 2 === 1,
      });
      expect(shareOf(problem, bruteForce(problem), 4000), `seed ${seed}`).toBeGreaterThan(1 - 1e-9);
    }
  });

  it('finds it on 100 small cases with slow and missing links', () => {
    for (let seed = 0; seed < 100; seed++) {
      const problem = randomProblem(new Random(seed), {
        devices: 3,
        layers: 5,
        links: true,
        unequalLayers: seed % 2 === 1,
      });
      const share = shareOf(problem, bruteForce(problem), 30_000);
      expect(share, `seed ${seed}`).toBeGreaterThan(1 - 1e-9);
    }
  });

  it("finds what Helix's program finds, or 95 % of it, on two dozen cases", async () => {
    const solve = await loadSolver();
    for (let seed = 0; seed < 24; seed++) {
      const links = seed % 2 === 0;
      const problem = randomProblem(new Random(1000 + seed), { devices: 3, layers: 5, links });
      const solved = solve(helixProgram(problem));
      expect(solved.status).toBe('Optimal');
      const flow = placementFlow(problem, placementOf(solved, 3)).throughput;
      expect(flow).toBeCloseTo(solved.objective, 5);
      expect(
        shareOf(problem, Math.max(flow, solved.objective), 40_000),
        `seed ${seed}`,
      ).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('says that a placement is the best only where it is', () => {
    let exact = 0;
    for (let seed = 0; seed < 60; seed++) {
      const problem = randomProblem(new Random(seed), {
        devices: 3,
        layers: 5,
        links: seed % 2 === 0,
        unequalLayers: true,
      });
      const found = placeRanges(problem, { evaluations: 1500, random: new Random(1) });
      if (!found.exact) continue;
      exact++;
      expect(found.throughput).toBeCloseTo(bruteForce(problem), 8);
    }
    expect(exact).toBeGreaterThan(10);
    expect(exact).toBeLessThan(60);
  });

  it('is never below what it starts from, whatever the budget', () => {
    for (let seed = 0; seed < 20; seed++) {
      const problem = randomProblem(new Random(seed), { devices: 10, layers: 12, links: seed % 2 === 0 });
      const starts = [equalStages(problem), petalsPlacement(problem, new Random(9))];
      const best = Math.max(...starts.map((start) => placementFlow(problem, start).throughput));
      for (const evaluations of [1, 500])
        expect(
          placeRanges(problem, { evaluations, random: new Random(1), starts }).throughput,
        ).toBeGreaterThanOrEqual(best);
    }
  });

  it('gives the same placement for the same seed', () => {
    const { problem } = geoClusters('70B');
    const run = () => placeRanges(problem, { evaluations: 60_000, random: new Random(5) });
    expect(run()).toEqual(run());
  });

  it("reaches the bound on Helix's single cluster, and passes its program's placements on all three", () => {
    for (const [cluster, share, above] of [
      [singleCluster('70B'), 0.999, 1.5],
      [geoClusters('70B'), 0.85, 1.4],
      [mixedCluster(), 0.89, 1.4],
    ] as const) {
      const { problem, published } = cluster;
      const found = placeRanges(problem, { evaluations: 1_000_000, random: new Random(1) });
      checkPlacement(problem, found.placement);
      const theirs = {
        from: Int32Array.from(published.placement!, ([from]) => from),
        to: Int32Array.from(published.placement!, ([, to]) => to),
      };
      expect(found.throughput / placementFlow(problem, theirs).throughput).toBeGreaterThan(above);
      expect(found.throughput / found.bound, cluster.name).toBeGreaterThan(share);
    }
  });
});
