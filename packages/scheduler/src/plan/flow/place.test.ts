import { Random } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InfeasiblePlanError, replicasOf, stageCount } from '../plan.ts';
import type { Device, Network } from '../problem.ts';
import { placeByFlow, planByFlow } from './place.ts';
import { worldFlow } from './world-flow.ts';

function world(random: Random, count: number): { devices: Device[]; network: Network } {
  const devices = Array.from({ length: count }, (_, d) => ({
    id: `d${d}`,
    rate: 1e10 * (1 + 9 * random.uniform()),
    fixedSeconds: 0.01 * random.uniform(),
    memoryBytes: 40e6 * (1 + 3 * random.uniform()),
    hazard: 0,
    site: `s${d % 3}`,
  }));
  const up = devices.map(() => 1e6 * (1 + 9 * random.uniform()));
  const link = (bytesPerSecond: number) => ({ latencySeconds: 0.02, bytesPerSecond });
  return {
    devices,
    network: {
      between: (d, e) => link(Math.min(up[d]!, 4 * up[e]!)),
      up: (d) => link(up[d]!),
      down: (d) => link(4 * up[d]!),
    },
  };
}

const layer = { name: 'block', parameters: 1e6, forwardFlops: 2e9, activationBytes: 1e6, boundaryBytes: 1e5 };
const workload = {
  layers: [
    { ...layer, name: 'embedding', forwardFlops: 0 },
    ...Array.from({ length: 8 }, () => layer),
    { ...layer, name: 'head', boundaryBytes: 0 },
  ],
  globalBatch: 64,
  boundaryScale: 0.5,
  gradientScale: 0.5,
  parameterScale: 1,
};

describe('placeByFlow', () => {
  it('gives plans whose ranges fit, whose stages all have replicas, and whose weights carry the flow', () => {
    fc.assert(
      fc.property(
        fc.nat(1e6),
        fc.integer({ min: 5, max: 14 }),
        fc.integer({ min: 1, max: 4 }),
        (seed, count, microBatch) => {
          const random = new Random(seed);
          const input = { workload, ...world(random, count), microBatch, evaluations: 5000, random };
          const { plan, throughput, bound } = planByFlow(input);
          expect(throughput).toBeGreaterThan(0);
          expect(throughput).toBeLessThanOrEqual(bound * (1 + 1e-9));
          expect(plan.cuts[0]).toBe(0);
          expect(plan.cuts.at(-1)).toBe(workload.layers.length);
          expect(plan.cuts.every((cut, index) => index === 0 || cut > plan.cuts[index - 1]!)).toBe(true);
          expect(plan.pipelines).toBeNull();
          expect(new Set(plan.holdings.map(({ device }) => device)).size).toBe(plan.holdings.length);
          const problem = worldFlow(input);
          for (const { device, from, to, weight, window } of plan.holdings) {
            expect(problem.memoryBytes(plan.cuts[from]!, plan.cuts[to]!)).toBeLessThanOrEqual(
              input.devices[device]!.memoryBytes,
            );
            expect(weight).toBeGreaterThan(0);
            expect(window).toBeGreaterThanOrEqual(1);
          }
          for (let stage = 0; stage < stageCount(plan); stage++) {
            const weight = replicasOf(plan, stage).reduce((sum, holding) => sum + holding.weight, 0);
            expect(weight).toBeGreaterThanOrEqual(throughput * (1 - 1e-9));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('says why there is no plan', () => {
    const input = { workload, ...world(new Random(1), 6), microBatch: 2, evaluations: 2000 };
    const large = {
      ...workload,
      layers: [...workload.layers.slice(0, 9), { ...layer, name: 'head', parameters: 1e8 }],
    };
    expect(() => placeByFlow({ ...input, workload: large })).toThrow(InfeasiblePlanError);
    expect(() => placeByFlow({ ...input, workload: large })).toThrow(
      /Layer 9 \(head\) needs 80\d\.\d MB.*6 devices has 1\d\d\.\d MB/,
    );
    const few = { ...input, devices: input.devices.slice(0, 1) };
    expect(() => placeByFlow(few)).toThrow(/1 devices have .* no placement found holds layer/);
    expect(() => placeByFlow({ ...input, devices: [] })).toThrow(/0 devices/);
    expect(() => placeByFlow({ ...input, workload: { ...workload, layers: [] } })).toThrow(/no layers/);
    const apart = { ...input.network, between: () => ({ latencySeconds: 1, bytesPerSecond: 0 }) };
    const small = input.devices.map((device) => ({ ...device, memoryBytes: 40e6 }));
    expect(() => placeByFlow({ ...input, devices: small, network: apart })).toThrow(
      /No link between the 6 devices/,
    );
  });
});
