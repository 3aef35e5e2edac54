/**
 * Maximum flow by Dinic's algorithm (E. A. Dinic, Soviet Math. Dokl. 11, 1970) on real capacities. An edge and its
 * reverse are neighbours, 2k and 2k + 1, so that `edge ^ 1` is the reverse.
 */

/** Residual capacity below this share of the largest finite one counts as none: sums of floats never end exactly. */
const relativeEpsilon = 1e-12;

export class FlowNetwork {
  readonly nodes: number;
  #edges = 0;
  #to: Int32Array;
  #capacity: Float64Array;
  #residual: Float64Array;
  #next: Int32Array;
  readonly #head: Int32Array;
  readonly #level: Int32Array;
  readonly #current: Int32Array;
  readonly #queue: Int32Array;
  readonly #path: Int32Array;
  #epsilon = 0;

  /** @param edges an estimate; the arrays grow. */
  constructor(nodes: number, edges = 4 * nodes) {
    if (!Number.isInteger(nodes) || nodes < 2)
      throw new RangeError(`A flow network has two nodes or more, not ${nodes}`);
    this.nodes = nodes;
    this.#to = new Int32Array(2 * edges);
    this.#next = new Int32Array(2 * edges);
    this.#capacity = new Float64Array(2 * edges);
    this.#residual = new Float64Array(2 * edges);
    this.#head = new Int32Array(nodes).fill(-1);
    this.#level = new Int32Array(nodes);
    this.#current = new Int32Array(nodes);
    this.#queue = new Int32Array(nodes);
    this.#path = new Int32Array(nodes);
  }

  /** Takes all edges away; the nodes stay. */
  clear(): void {
    this.#edges = 0;
    this.#head.fill(-1);
  }

  /**
   * @param capacity 0 or more; may be Infinity.
   * @returns the edge's index, for `flow` and `capacity`.
   * @throws RangeError for a node that is not there, or a capacity that is negative or not a number.
   */
  addEdge(from: number, to: number, capacity: number): number {
    if (!(from >= 0 && from < this.nodes && to >= 0 && to < this.nodes))
      throw new RangeError(`Edge ${from} -> ${to} leaves the nodes 0 to ${this.nodes - 1}`);
    if (!(capacity >= 0))
      throw new RangeError(`The capacity of edge ${from} -> ${to} is ${capacity}: 0 or more`);
    const edge = this.#edges;
    if (edge + 2 > this.#to.length) this.#grow();
    this.#edges += 2;
    this.#to[edge] = to;
    this.#to[edge + 1] = from;
    this.#capacity[edge] = capacity;
    this.#capacity[edge + 1] = 0;
    this.#next[edge] = this.#head[from]!;
    this.#head[from] = edge;
    this.#next[edge + 1] = this.#head[to]!;
    this.#head[to] = edge + 1;
    return edge;
  }

  /**
   * Value of a maximum flow; `flow` and `sourceSide` then tell of it. O(nodes^2 edges), far less in practice.
   * @returns Infinity where a path of infinite capacity joins the two.
   */
  maxFlow(source: number, sink: number): number {
    if (source === sink) throw new RangeError(`Source and sink are the same node, ${source}`);
    this.#residual.set(this.#capacity.subarray(0, this.#edges));
    let largest = 0;
    for (let edge = 0; edge < this.#edges; edge += 2) {
      const capacity = this.#capacity[edge]!;
      if (capacity > largest && capacity < Infinity) largest = capacity;
    }
    this.#epsilon = largest * relativeEpsilon;
    let total = 0;
    while (this.#label(source, sink)) {
      this.#current.set(this.#head);
      for (;;) {
        const pushed = this.#augment(source, sink);
        if (pushed === 0) break;
        if (pushed === Infinity) return Infinity;
        total += pushed;
      }
    }
    return total;
  }

  /** Flow over an edge after `maxFlow`. */
  flow(edge: number): number {
    // The reverse's residual is what flows, and does not suffer from infinite capacities.
    return this.#residual[edge + 1]!;
  }

  capacity(edge: number): number {
    return this.#capacity[edge]!;
  }

  /** After `maxFlow`: 1 for the nodes on the source's side of a minimum cut. */
  sourceSide(): Uint8Array {
    return Uint8Array.from(this.#level, (level) => (level < 0 ? 0 : 1));
  }

  /** Breadth first from the source over what is left: levels, -1 where it does not reach. */
  #label(source: number, sink: number): boolean {
    const level = this.#level.fill(-1);
    const queue = this.#queue;
    level[source] = 0;
    queue[0] = source;
    for (let first = 0, last = 1; first < last; first++) {
      const node = queue[first]!;
      for (let edge = this.#head[node]!; edge >= 0; edge = this.#next[edge]!) {
        const to = this.#to[edge]!;
        if (level[to]! >= 0 || this.#residual[edge]! <= this.#epsilon) continue;
        level[to] = level[node]! + 1;
        queue[last++] = to;
      }
    }
    return level[sink]! >= 0;
  }

  /** One shortest augmenting path, found without recursion; 0 when the level graph has none left. */
  #augment(source: number, sink: number): number {
    const path = this.#path;
    let depth = 0;
    let node = source;
    while (node !== sink) {
      let edge = this.#current[node]!;
      while (
        edge >= 0 &&
        (this.#residual[edge]! <= this.#epsilon || this.#level[this.#to[edge]!] !== this.#level[node]! + 1)
      )
        edge = this.#next[edge]!;
      this.#current[node] = edge;
      if (edge >= 0) {
        path[depth++] = edge;
        node = this.#to[edge]!;
        continue;
      }
      if (depth === 0) return 0;
      const back = path[--depth]!;
      node = this.#to[back ^ 1]!;
      this.#current[node] = this.#next[back]!;
    }
    let pushed = Infinity;
    for (let i = 0; i < depth; i++) pushed = Math.min(pushed, this.#residual[path[i]!]!);
    if (pushed === Infinity) return Infinity;
    for (let i = 0; i < depth; i++) {
      const edge = path[i]!;
      this.#residual[edge] = this.#residual[edge]! - pushed;
      this.#residual[edge ^ 1] = this.#residual[edge ^ 1]! + pushed;
    }
    return pushed;
  }

  #grow(): void {
    const size = Math.max(16, 2 * this.#to.length);
    const grown = <T extends Int32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.#to = grown(this.#to, new Int32Array(size));
    this.#next = grown(this.#next, new Int32Array(size));
    this.#capacity = grown(this.#capacity, new Float64Array(size));
    this.#residual = grown(this.#residual, new Float64Array(size));
  }
}
