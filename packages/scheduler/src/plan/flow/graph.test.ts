import { Random } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coverageFlow } from './coverage.ts';
import { checkPlacement } from './flow-problem.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { placementFlow } from './graph.ts';
import { randomProblem } from './testing/random-problems.ts';

function randomPlacement(problem: FlowProblem, random: Random): Placement {
  const from = new Int32Array(problem.devices);
  const to = new Int32Array(problem.devices);
  for (let device = 0; device < problem.devices; device++) {
    from[device] = random.below(problem.layers);
    to[device] = from[device]! + random.below(problem.reach(device, from[device]!) - from[device]! + 1);
  }
  return { from, to };
}

function ranges(...pairs: [number, number][]): Placement {
  return { from: Int32Array.from(pairs, ([from]) => from), to: Int32Array.from(pairs, ([, to]) => to) };
}

const seeds = fc.nat(1e6);

/** Rates of 10, 4 and 6 whatever the range; links, and what the server sends and takes, without limit. */
const example: FlowProblem = {
  layers: 4,
  devices: 3,
  rate: (device) => [10, 4, 6][device]!,
  reach: () => 4,
  link: () => Infinity,
  source: () => Infinity,
  sink: () => Infinity,
};

describe('the flow network of a placement', () => {
  it('passes a range in part: a device takes over where the one before it ended', () => {
    // [0, 3) at 10 goes on to [1, 4) at 4, which holds layer 3, and to [3, 4) at 6.
    const flow = placementFlow(example, ranges([0, 3], [1, 4], [3, 4]));
    expect(flow.throughput).toBe(10);
    expect([...flow.devices]).toEqual([10, 4, 6]);
    expect(flow.links).toContainEqual({ from: 0, to: 1, boundary: 3, flow: 4 });
  });

  it('does not hand over to a device whose range ends no later, nor over a gap', () => {
    expect(placementFlow(example, ranges([0, 3], [1, 3], [3, 4])).throughput).toBe(6);
    expect(placementFlow(example, ranges([0, 2], [3, 4], [3, 4])).throughput).toBe(0);
  });

  it('keeps to links, and names what limits', () => {
    const slow = { ...example, link: (_d: number, e: number) => (e === 1 ? 1.5 : Infinity) };
    const flow = placementFlow(slow, ranges([0, 3], [1, 4], [3, 4]));
    expect(flow.throughput).toBe(7.5);
    expect(flow.cut).toEqual({ devices: [2], links: [{ from: 0, to: 1, boundary: 3 }] });
    const server = { ...example, source: () => 2, sink: () => 3 };
    expect(placementFlow(server, ranges([0, 3], [1, 4], [3, 4])).throughput).toBe(2);
    expect(placementFlow({ ...server, source: () => 9 }, ranges([0, 3], [3, 4], [3, 4])).throughput).toBe(6);
  });

  it('equals the least coverage where links are no limit', () => {
    fc.assert(
      fc.property(
        seeds,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 10 }),
        (seed, devices, layers) => {
          const random = new Random(seed);
          const problem = randomProblem(random, { devices, layers, links: false, unequalLayers: true });
          const placement = randomPlacement(problem, random);
          expect(placementFlow(problem, placement).throughput).toBeCloseTo(
            coverageFlow(problem, placement),
            8,
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  it('gives flows within rates and links, conserved, and a cut of the same value', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 2, max: 10 }), (seed, devices) => {
        const random = new Random(seed);
        const problem = randomProblem(random, { devices, layers: 6, links: true });
        const placement = randomPlacement(problem, random);
        const { throughput, devices: through, links, cut } = placementFlow(problem, placement);
        const balance = new Float64Array(devices);
        let entered = 0;
        for (const { from, to, boundary, flow } of links) {
          const capacity =
            from === null
              ? problem.source(to!)
              : to === null
                ? problem.sink(from)
                : problem.link(from, to, boundary);
          expect(flow).toBeLessThanOrEqual(capacity + 1e-9);
          if (from === null) entered += flow;
          else balance[from] = balance[from]! - flow;
          if (to !== null) balance[to] = balance[to]! + flow;
          if (from !== null && to !== null) {
            expect(boundary).toBe(placement.to[from]);
            expect(placement.from[to]).toBeLessThanOrEqual(boundary);
            expect(placement.to[to]).toBeGreaterThan(boundary);
          }
        }
        expect(entered).toBeCloseTo(throughput, 8);
        for (let device = 0; device < devices; device++) {
          expect(balance[device]).toBeCloseTo(0, 8);
          const held = placement.from[device]! < placement.to[device]!;
          const rate = held ? problem.rate(device, placement.from[device]!, placement.to[device]!) : 0;
          expect(through[device]).toBeLessThanOrEqual(rate + 1e-9);
        }
        const limit =
          cut.devices.reduce((sum, d) => sum + problem.rate(d, placement.from[d]!, placement.to[d]!), 0) +
          cut.links.reduce(
            (sum, { from, to, boundary }) =>
              sum +
              (from === null
                ? problem.source(to!)
                : to === null
                  ? problem.sink(from)
                  : problem.link(from, to, boundary)),
            0,
          );
        expect(limit).toBeCloseTo(throughput, 6);
      }),
      { numRuns: 300 },
    );
  });

  it('says which range does not fit', () => {
    const tight = { ...example, reach: (_: number, from: number) => Math.min(4, from + 2) };
    expect(() => checkPlacement(tight, ranges([0, 2], [2, 4], [0, 0]))).not.toThrow();
    expect(() => checkPlacement(tight, ranges([0, 3], [2, 4], [0, 0]))).toThrow(
      /Device 0 holds \[0, 3\).*up to 2/,
    );
    expect(() => checkPlacement(example, ranges([0, 3], [2, 5], [0, 0]))).toThrow(
      /Device 1 holds \[2, 5\) of 4/,
    );
  });
});
