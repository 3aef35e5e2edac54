import { describe, expect, it } from 'vitest';
import type { Device, Network } from '../problem.ts';
import { worldFlow } from './world-flow.ts';

const layer = { name: 'l', parameters: 1e6, forwardFlops: 1e9, activationBytes: 2e6, boundaryBytes: 4e5 };
const layers = [layer, layer, { ...layer, forwardFlops: 2e9 }, { ...layer, boundaryBytes: 0 }];
const workload = { layers, globalBatch: 32, boundaryScale: 0.5, gradientScale: 1, parameterScale: 1 };
const devices: Device[] = [
  { id: 'a', rate: 1e10, fixedSeconds: 0.05, memoryBytes: 1e9, hazard: 0, site: 'x' },
  { id: 'b', rate: 1e12, fixedSeconds: 0, memoryBytes: 31e6, hazard: 0, site: 'y' },
];
const link = (bytesPerSecond: number) => ({ latencySeconds: 0.01, bytesPerSecond });
const network: Network = {
  between: (d) => link(d === 0 ? 1e6 : 4e6),
  up: (d) => link(d === 0 ? 1e9 : 2e6),
  down: () => link(8e6),
};
const input = { workload, devices, network, microBatch: 2 };

describe('worldFlow', () => {
  it('counts forward, backward and the forward again; at the end of the model one task without the last', () => {
    const training = worldFlow(input);
    expect(training.rate(0, 0, 2)).toBeCloseTo(1 / (2 * 0.05 + (4 * 2 * 2e9) / 1e10), 9);
    expect(training.rate(0, 2, 4)).toBeCloseTo(1 / (0.05 + (3 * 2 * 3e9) / 1e10), 9);
    expect(worldFlow({ ...input, mode: 'serving' }).rate(0, 0, 2)).toBeCloseTo(
      1 / (0.05 + (2 * 2e9) / 1e10),
      9,
    );
  });

  it("is limited by the device's own link, activations and gradients together", () => {
    // Device b sends an activation and a gradient of 2 * 4e5 * 0.5 bytes each at 2 MB/s.
    expect(worldFlow(input).rate(1, 1, 2)).toBeCloseTo(2e6 / 8e5, 9);
    expect(worldFlow({ ...input, mode: 'serving' }).rate(1, 1, 2)).toBeCloseTo(2e6 / 4e5, 9);
  });

  it('carries activations one way and gradients the other', () => {
    expect(worldFlow(input).link(0, 1, 1)).toBeCloseTo(1e6 / 4e5, 9);
    expect(worldFlow(input).link(1, 0, 1)).toBeCloseTo(1e6 / 4e5, 9);
    const serving = worldFlow({ ...input, mode: 'serving', inputBytes: 1000 });
    expect(serving.link(1, 0, 1)).toBeCloseTo(4e6 / 4e5, 9);
    expect(serving.source(0)).toBeCloseTo(8e6 / 2000, 9);
    expect(worldFlow(input).source(0)).toBe(Infinity);
  });

  it('knows what fits, and how many micro-batches besides', () => {
    const problem = worldFlow(input);
    // Weights and gradients, activations of two samples, the tensors at both ends.
    expect(problem.memoryBytes(1, 3)).toBe(2 * 4 * 2e6 + 2 * 2 * 2e6 + 2 * 2 * 4e5);
    expect(problem.reach(0, 0)).toBe(4);
    expect(problem.reach(1, 1)).toBe(3);
    expect(problem.windowOf(1, 1, 3)).toBe(1 + Math.floor((31e6 - problem.memoryBytes(1, 3)) / 1.6e6));
    expect(problem.windowOf(0, 1, 3)).toBe(16);
    expect(() => worldFlow({ ...input, microBatch: 0 })).toThrow(/at least 1/);
  });
});
