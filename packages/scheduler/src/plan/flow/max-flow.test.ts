import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FlowNetwork } from './max-flow.ts';
import { expression, loadSolver } from './testing/highs.ts';

interface Edge {
  from: number;
  to: number;
  capacity: number;
}

function networks(maximumNodes: number): fc.Arbitrary<{ nodes: number; edges: Edge[] }> {
  return fc.integer({ min: 2, max: maximumNodes }).chain((nodes) =>
    fc.record({
      nodes: fc.constant(nodes),
      edges: fc.array(
        fc.record({
          from: fc.nat(nodes - 1),
          to: fc.nat(nodes - 1),
          capacity: fc.oneof(fc.nat(9), fc.double({ min: 0, max: 10, noNaN: true })),
        }),
        { maxLength: 3 * nodes },
      ),
    }),
  );
}

function build({ nodes, edges }: { nodes: number; edges: Edge[] }): { network: FlowNetwork; ids: number[] } {
  const network = new FlowNetwork(nodes, 1);
  return { network, ids: edges.map(({ from, to, capacity }) => network.addEdge(from, to, capacity)) };
}

/** The least capacity over every set of nodes that has the source and not the sink. */
function leastCut(nodes: number, edges: readonly Edge[]): number {
  let least = Infinity;
  for (let set = 1; set < 1 << nodes; set += 2) {
    if (set & (1 << (nodes - 1))) continue;
    let capacity = 0;
    for (const edge of edges)
      if (set & (1 << edge.from) && !(set & (1 << edge.to))) capacity += edge.capacity;
    least = Math.min(least, capacity);
  }
  return least;
}

describe('FlowNetwork', () => {
  it('equals the least cut, found by trying all', () => {
    fc.assert(
      fc.property(networks(7), (example) => {
        const { network } = build(example);
        expect(network.maxFlow(0, example.nodes - 1)).toBeCloseTo(leastCut(example.nodes, example.edges), 8);
      }),
      { numRuns: 500 },
    );
  });

  it('gives a flow that keeps to capacities, is conserved, and a cut that it fills', () => {
    fc.assert(
      fc.property(networks(12), (example) => {
        const { network, ids } = build(example);
        const value = network.maxFlow(0, example.nodes - 1);
        const balance = new Float64Array(example.nodes);
        const side = network.sourceSide();
        let cut = 0;
        example.edges.forEach(({ from, to, capacity }, index) => {
          const flow = network.flow(ids[index]!);
          expect(flow).toBeGreaterThanOrEqual(0);
          expect(flow).toBeLessThanOrEqual(capacity + 1e-9);
          balance[from] = balance[from]! - flow;
          balance[to] = balance[to]! + flow;
          if (side[from] && !side[to]) cut += capacity;
        });
        expect(side[0]).toBe(1);
        expect(side[example.nodes - 1]).toBe(0);
        expect(cut).toBeCloseTo(value, 8);
        expect(balance[example.nodes - 1]).toBeCloseTo(value, 8);
        for (let node = 1; node < example.nodes - 1; node++) expect(balance[node]).toBeCloseTo(0, 8);
      }),
      { numRuns: 300 },
    );
  });

  it('agrees with the linear program, solved by HiGHS', async () => {
    const solve = await loadSolver();
    fc.assert(
      fc.property(networks(9), (example) => {
        const { network } = build(example);
        const out: [number, string][][] = Array.from({ length: example.nodes }, () => []);
        example.edges.forEach(({ from, to }, index) => {
          out[from]!.push([1, `f${index}`]);
          out[to]!.push([-1, `f${index}`]);
        });
        const program = `Maximize
 value: ${expression(merged(out[0]!))}
Subject To
${out
  .slice(1, -1)
  .map((terms, node) => ` n${node}: ${expression(merged(terms))} = 0`)
  .join('\n')}
 z: zero = 0
Bounds
${example.edges.map(({ capacity }, index) => ` 0 <= f${index} <= ${capacity}`).join('\n')}
End`;
        expect(network.maxFlow(0, example.nodes - 1)).toBeCloseTo(solve(program).objective, 6);
      }),
      { numRuns: 60 },
    );
  });

  it('takes infinite capacities, and starts anew after clear()', () => {
    const network = new FlowNetwork(3);
    const first = network.addEdge(0, 1, Infinity);
    network.addEdge(1, 2, 2.5);
    expect(network.maxFlow(0, 2)).toBe(2.5);
    expect(network.flow(first)).toBe(2.5);
    network.addEdge(1, 2, Infinity);
    expect(network.maxFlow(0, 2)).toBe(Infinity);
    network.clear();
    expect(network.maxFlow(0, 2)).toBe(0);
  });

  it('refuses what is no network', () => {
    expect(() => new FlowNetwork(1)).toThrow(/two nodes/);
    const network = new FlowNetwork(2);
    expect(() => network.addEdge(0, 2, 1)).toThrow(/nodes 0 to 1/);
    expect(() => network.addEdge(0, 1, -1)).toThrow(/0 or more/);
    expect(() => network.addEdge(0, 1, NaN)).toThrow(/0 or more/);
    expect(() => network.maxFlow(1, 1)).toThrow(/same node/);
  });
});

function merged(terms: readonly (readonly [number, string])[]): [number, string][] {
  const sums = new Map<string, number>();
  for (const [coefficient, name] of terms) sums.set(name, (sums.get(name) ?? 0) + coefficient);
  return [...sums].map(([name, coefficient]) => [coefficient, name]);
}
