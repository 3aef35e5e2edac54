/**
 * Helix's flow network of a placement (ASPLOS'25, section 4): each device is an edge in -> out of its rate; device d
 * hands over to device e where e holds the layer at which d ends (whole or partial overlap); the server feeds the
 * ranges that start at layer 0 and takes from those that end at layer L.
 */
import { FlowNetwork } from './max-flow.ts';
import { rateOf } from './coverage.ts';
import type { FlowProblem, Placement } from './flow-problem.ts';

export interface LinkFlow {
  /** Device that sends; null is the server. */
  from: number | null;
  /** Device that receives; null is the server. */
  to: number | null;
  /** The boundary is before this layer: 0 at the source, L at the sink. */
  boundary: number;
  flow: number;
}

export interface PlacementFlow {
  /** Micro-batches per second from end to end. */
  throughput: number;
  /** Flow through each device. */
  devices: Float64Array;
  links: LinkFlow[];
  /** What limits: devices whose rate, and links whose capacity, make a minimum cut. */
  cut: { devices: number[]; links: Omit<LinkFlow, 'flow'>[] };
}

const source = 0;
const sink = 1;
const entry = (device: number): number => 2 + 2 * device;
const exit = (device: number): number => 3 + 2 * device;

interface Edge extends Omit<LinkFlow, 'flow'> {
  edge: number;
}

/** Builds networks of placements of one problem, again and again, on the same arrays. */
export class PlacementGraph {
  readonly #problem: FlowProblem;
  readonly #network: FlowNetwork;
  readonly #holders: number[][];
  #links: Edge[] = [];
  readonly #deviceEdges: Int32Array;

  constructor(problem: FlowProblem) {
    this.#problem = problem;
    this.#network = new FlowNetwork(2 + 2 * problem.devices, 16 * (1 + problem.devices));
    this.#holders = Array.from({ length: problem.layers }, () => []);
    this.#deviceEdges = new Int32Array(problem.devices);
  }

  /** The maximum flow of the placement. O(pairs of devices that may hand over) to build. */
  throughput(placement: Placement): number {
    this.#build(placement);
    return this.#network.maxFlow(source, sink);
  }

  /** The maximum flow, with the flow through each device and link, and a minimum cut. */
  solve(placement: Placement): PlacementFlow {
    const throughput = this.throughput(placement);
    const network = this.#network;
    const side = network.sourceSide();
    const devices = Float64Array.from(this.#deviceEdges, (edge) => (edge < 0 ? 0 : network.flow(edge)));
    const links = this.#links
      .map(({ edge, ...link }) => ({ ...link, flow: network.flow(edge) }))
      .filter(({ flow }) => flow > 0);
    const limiting = [...this.#deviceEdges.keys()].filter(
      (device) => this.#deviceEdges[device]! >= 0 && side[entry(device)]! && !side[exit(device)]!,
    );
    const crossing = this.#links
      .filter(({ from, to }) => {
        const before = from === null ? source : exit(from);
        const after = to === null ? sink : entry(to);
        return side[before]! && !side[after]!;
      })
      .map(({ from, to, boundary }) => ({ from, to, boundary }));
    return { throughput, devices, links, cut: { devices: limiting, links: crossing } };
  }

  /** Layers at which the minimum cut of the latest `throughput` lies: starts and ends of what it goes through. */
  cutBoundaries({ from, to }: Placement): number[] {
    const side = this.#network.sourceSide();
    const boundaries = new Set<number>();
    for (let device = 0; device < this.#problem.devices; device++) {
      if (this.#deviceEdges[device]! < 0 || !side[entry(device)]) continue;
      if (side[exit(device)]) boundaries.add(to[device]!);
      else {
        boundaries.add(from[device]!);
        boundaries.add(to[device]!);
      }
    }
    if (boundaries.size === 0) boundaries.add(0);
    return [...boundaries];
  }

  #build(placement: Placement): void {
    const { layers, devices } = this.#problem;
    const { from, to } = placement;
    const network = this.#network;
    network.clear();
    this.#links = [];
    for (const holders of this.#holders) holders.length = 0;
    for (let device = 0; device < devices; device++) {
      this.#deviceEdges[device] = -1;
      const rate = rateOf(this.#problem, device, from[device]!, to[device]!);
      if (rate <= 0) continue;
      this.#deviceEdges[device] = network.addEdge(entry(device), exit(device), rate);
      for (let layer = from[device]!; layer < to[device]!; layer++) this.#holders[layer]!.push(device);
    }
    for (let device = 0; device < devices; device++) {
      if (this.#deviceEdges[device]! < 0) continue;
      if (from[device] === 0) this.#join(null, device, 0, this.#problem.source(device));
      const end = to[device]!;
      if (end === layers) this.#join(device, null, layers, this.#problem.sink(device));
      else
        for (const next of this.#holders[end]!)
          this.#join(device, next, end, this.#problem.link(device, next, end));
    }
  }

  #join(from: number | null, to: number | null, boundary: number, capacity: number): void {
    if (capacity <= 0) return;
    const edge = this.#network.addEdge(
      from === null ? source : exit(from),
      to === null ? sink : entry(to),
      capacity,
    );
    this.#links.push({ from, to, boundary, edge });
  }
}

export function placementFlow(problem: FlowProblem, placement: Placement): PlacementFlow {
  return new PlacementGraph(problem).solve(placement);
}
