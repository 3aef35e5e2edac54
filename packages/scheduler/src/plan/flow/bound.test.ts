import { Random } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flowBound, rateSumBound, refinedBound } from './bound.ts';
import { geoClusters, singleCluster } from './clusters.ts';
import { beyondChains } from './testing/chain-limit.ts';
import { coverBound } from './testing/cover-bound.ts';
import { loadSolver } from './testing/highs.ts';
import { bruteForce, randomProblem } from './testing/random-problems.ts';

const seeds = fc.nat(1e6);

describe('bounds', () => {
  it('are not below the best of all placements, and get tighter', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.boolean(),
        fc.boolean(),
        fc.integer({ min: 2, max: 5 }),
        (seed, links, unequalLayers, layers) => {
          const problem = randomProblem(new Random(seed), { devices: 3, layers, links, unequalLayers });
          const best = bruteForce(problem);
          const bound = flowBound(problem);
          const refined = refinedBound(problem, 60, bound);
          expect(refined).toBeGreaterThanOrEqual(best * (1 - 1e-9));
          expect(refinedBound(problem, 60)).toBeGreaterThanOrEqual(best * (1 - 1e-9));
          expect(bound).toBeGreaterThanOrEqual(refined * (1 - 1e-9));
          expect(rateSumBound(problem)).toBeGreaterThanOrEqual(bound * (1 - 1e-6));
        },
      ),
      { numRuns: 150 },
    );
  });

  it('are met by equal devices that share the layers evenly', () => {
    const problem = {
      layers: 6,
      devices: 3,
      rate: (_: number, from: number, to: number) => 12 / (to - from),
      reach: (_: number, from: number) => Math.min(6, from + 4),
      link: () => Infinity,
      source: () => Infinity,
      sink: () => Infinity,
    };
    expect(flowBound(problem)).toBeCloseTo(6, 8);
    expect(bruteForce(problem)).toBeCloseTo(6, 8);
  });

  it("of links: no placement on Helix's regions has more than what the search finds there", () => {
    const { problem } = geoClusters('70B');
    expect(beyondChains(problem, 1756)).toBe(true);
    // Not for the placement that there is, nor where the links are fast.
    expect(beyondChains(problem, 1754)).toBe(false);
    expect(beyondChains(singleCluster('70B').problem, 1756)).toBe(false);
  });

  it('of links is claimed only for flows that no placement has', () => {
    let claimed = 0;
    for (let seed = 0; seed < 40; seed++) {
      const random = new Random(seed);
      const rates = [6 + 6 * random.uniform(), 3 + 3 * random.uniform(), 1.2 * random.uniform()];
      const across = 6 * random.uniform();
      const problem = {
        layers: 6,
        devices: 3,
        rate: (_: number, from: number, to: number) => rates[to - from - 1]!,
        reach: (_: number, from: number) => Math.min(6, from + 3),
        link: (d: number, e: number) => (d === 2 || e === 2 ? across : Infinity),
        source: () => Infinity,
        sink: () => Infinity,
      };
      const best = bruteForce(problem);
      for (const flow of [1, 2, 3, 4, 5, 6]) {
        if (!beyondChains(problem, flow)) continue;
        expect(best, `seed ${seed}`).toBeLessThan(flow);
        if (flow < flowBound(problem)) claimed++;
      }
    }
    expect(claimed).toBeGreaterThan(10);
  });

  it('of whole layers, by HiGHS, lies between the best placement and the bound', async () => {
    const solve = await loadSolver();
    let tighter = 0;
    for (let seed = 0; seed < 6; seed++) {
      const problem = randomProblem(new Random(seed), { devices: 3, layers: 5, links: false });
      const best = bruteForce(problem);
      const bound = flowBound(problem);
      const whole = coverBound(problem, solve, { lower: best, precision: 5e-3 });
      expect(whole).toBeGreaterThanOrEqual(best * (1 - 1e-9));
      expect(whole).toBeLessThanOrEqual(bound * (1 + 6e-3));
      if (whole < bound * 0.99) tighter++;
    }
    expect(tighter).toBeGreaterThan(1);
  });
});
