import { describe, expect, it } from 'vitest';
import { geoClusters, mixedCluster, singleCluster } from './clusters.ts';
import { checkPlacement } from './flow-problem.ts';
import { placementFlow } from './graph.ts';

describe("Helix's clusters", () => {
  // Best objectives in the solver's log of its artefact, for 70B on the single and the geo-distributed cluster.
  it.each([
    [singleCluster('70B'), 1289.555770275],
    [geoClusters('70B'), 1212.17684546],
  ])(
    'give its published placements the flow that its solver gave them: $name',
    ({ problem, published }, objective) => {
      const placement = {
        from: Int32Array.from(published.placement!, ([from]) => from),
        to: Int32Array.from(published.placement!, ([, to]) => to),
      };
      checkPlacement(problem, placement);
      expect(placementFlow(problem, placement).throughput).toBeCloseTo(objective, 2);
    },
  );

  it('have its machines', () => {
    const count = (types: readonly string[]): Record<string, number> =>
      Object.fromEntries(
        [...new Set(types)].sort().map((type) => [type, types.filter((other) => other === type).length]),
      );
    for (const cluster of [singleCluster('30B'), geoClusters('30B')])
      expect(count(cluster.types)).toEqual({ A100: 4, L4: 8, T4: 12 });
    expect(count(mixedCluster().types)).toEqual({
      A100: 4,
      L4: 8,
      L4x2: 4,
      T4: 10,
      T4x2: 6,
      T4x4: 4,
      V100: 6,
    });
    expect(mixedCluster().problem.devices).toBe(42);
  });

  it('have fast links within a region and slow ones across', () => {
    const { problem, regions } = geoClusters('70B');
    for (let d = 0; d < problem.devices; d++)
      for (let e = 0; e < problem.devices; e++) {
        if (d === e) continue;
        const gigabits = (problem.link(d, e, 1) * 16384 * 8) / 1e9;
        if (regions[d] === regions[e]) expect(gigabits).toBeGreaterThan(8.9);
        else {
          expect(gigabits).toBeGreaterThan(0.079);
          expect(gigabits).toBeLessThan(0.121);
        }
        expect(problem.link(d, e, 1)).toBe(problem.link(e, d, 1));
      }
  });
});
