/**
 * Rewrites a recorded step to fewer launches with the same results: sums are folded into the kernels that make their
 * terms, gradients go straight into the sums of a contribution, and what nobody reads is left out.
 */
import { accumulateKernel, copyKernel } from '../elementwise/elementwise.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { switchedOn } from '../kernel/switches.ts';
import { reads, writes, type BufferId, type KernelLaunch, type Launch } from './launch.ts';

/** A result of the step and the buffer that takes it. */
export interface Sink {
  readonly result: BufferId;
  readonly target: BufferId;
  /** Adds to the target instead of overwriting it. */
  readonly add: boolean;
}

/**
 * @param fixed buffers that are not the step's own: given, constant. None is a target.
 * @throws Error where a kernel that is needed is switched off.
 */
export function foldLaunches(
  launches: readonly Launch[],
  sinks: readonly Sink[],
  fixed: ReadonlySet<BufferId>,
  bytes: Map<BufferId, number>,
): Launch[] {
  const results = new Set(sinks.map(({ result }) => result));
  const summed = sinks.filter(({ add }) => add).map(({ result }) => result);
  const folded = foldSums([...launches], new Set([...fixed, ...results]), new Set(summed));
  const sunk = new Sinking(folded, fixed, bytes, results).sink(sinks);
  const targets = new Set(sinks.map(({ target }) => target));
  const left = withoutUnread(sunk, targets);
  checkOrder(left, new Set([...fixed, ...targets]));
  return left;
}

/** A launch that reads what nothing has written would compute from whatever the arena held. */
function checkOrder(launches: readonly Launch[], present: ReadonlySet<BufferId>): void {
  const written = new Set(present);
  for (const launch of launches) {
    if (launch.inputs.some((id) => !written.has(id))) {
      throw new Error('folding has left a launch without its input: this is a bug of the fold');
    }
    for (const id of launch.outputs) written.add(id);
  }
}

const isAdd = (launch: Launch): launch is KernelLaunch => launch.kernel?.role === 'add';

/**
 * `x = f(...); y = x + z` becomes `y = f(..., z)` where f can add and nothing else reads x. The terms of `summed` are
 * left apart: each goes straight into its sum.
 */
function foldSums(launches: Launch[], kept: ReadonlySet<BufferId>, summed: ReadonlySet<BufferId>): Launch[] {
  for (let at = 0; at < launches.length; at++) {
    const sum = launches[at];
    if (!sum || !isAdd(sum) || sum.outputs.some((id) => summed.has(id))) continue;
    const place = foldOne(launches, at, sum, kept);
    // The launch that now computes the sum took one of the two places.
    if (place) at--;
  }
  return launches;
}

function foldOne(launches: Launch[], at: number, sum: KernelLaunch, kept: ReadonlySet<BufferId>): boolean {
  const [a, b] = sum.inputs as [BufferId, BufferId];
  if (a === b) return false;
  for (const [term, other] of [
    [b, a],
    [a, b],
  ] as const) {
    if (kept.has(term) || readersOf(launches, term).length !== 1) continue;
    const writers = writersOf(launches, term);
    const from = writers[0];
    if (from === undefined || writers.length !== 1) continue;
    const maker = launches[from] as Launch;
    const adding = maker.kernel?.adding?.();
    if (!adding || maker.outputs[0] !== term) continue;
    const merged: KernelLaunch = {
      kernel: adding,
      inputs: [...maker.inputs, other],
      outputs: [sum.outputs[0] as BufferId, ...maker.outputs.slice(1)],
    };
    const ready = Math.max(-1, ...writersOf(launches, other)) < from;
    if (ready) {
      launches.splice(at, 1);
      launches[from] = merged;
      return true;
    }
    if (canMove(launches, from, at)) {
      launches[at] = merged;
      launches.splice(from, 1);
      return true;
    }
  }
  return false;
}

/** Nothing between the two places reads what the launch makes or writes what it reads. */
function canMove(launches: readonly Launch[], from: number, to: number): boolean {
  const moved = launches[from] as Launch;
  return launches
    .slice(from + 1, to)
    .every(
      (between) =>
        moved.outputs.every((id) => !reads(between, id) && !writes(between, id)) &&
        moved.inputs.every((id) => !writes(between, id)),
    );
}

function readersOf(launches: readonly Launch[], id: BufferId): number[] {
  return launches.flatMap((launch, index) => (launch.inputs.includes(id) ? [index] : []));
}

function writersOf(launches: readonly Launch[], id: BufferId): number[] {
  return launches.flatMap((launch, index) => (writes(launch, id) ? [index] : []));
}

/** Sends results to their targets. */
class Sinking {
  readonly #launches: (Launch | null)[];
  readonly #fixed: ReadonlySet<BufferId>;
  readonly #bytes: Map<BufferId, number>;
  readonly #results: ReadonlySet<BufferId>;
  /** Results that have become their targets. */
  readonly #renamed = new Map<BufferId, BufferId>();

  constructor(
    launches: readonly Launch[],
    fixed: ReadonlySet<BufferId>,
    bytes: Map<BufferId, number>,
    results: ReadonlySet<BufferId>,
  ) {
    this.#launches = [...launches];
    this.#fixed = fixed;
    this.#bytes = bytes;
    this.#results = results;
  }

  sink(sinks: readonly Sink[]): Launch[] {
    const open = new Map<BufferId, BufferId>();
    const trailing: Sink[] = [];
    for (const sink of sinks) {
      const twice = sinks.filter(({ result }) => result === sink.result).length > 1;
      if (!sink.add || twice || !this.#private(sink.result)) trailing.push(sink);
      else for (const term of this.#terms(sink.result)) open.set(term, sink.target);
    }
    for (const [result, target] of [...open]) {
      if (this.#retarget(result, open)) open.delete(result);
      else trailing.push({ result, target, add: true });
    }
    const present = this.#launches.filter((launch) => launch !== null);
    // Sums first: a result that is also sent somewhere by name is under its own name no longer.
    const ordered = [...trailing.filter(({ add }) => add), ...trailing.filter(({ add }) => !add)];
    return ordered.reduce((list, sink) => this.#deliver(list, sink), present);
  }

  /** Made by the step and read by nothing in it. */
  #private(id: BufferId): boolean {
    return !this.#fixed.has(id) && this.#readers(id).length === 0 && this.#writers(id).length > 0;
  }

  /** The terms of a result that is a sum, each of which can be added to the target by itself. */
  #terms(result: BufferId): BufferId[] {
    const writers = this.#writers(result);
    const at = writers[0];
    const launch = at === undefined ? null : this.#launches[at];
    if (writers.length !== 1 || at === undefined || !launch || !isAdd(launch)) return [result];
    const [a, b] = launch.inputs as [BufferId, BufferId];
    const single = (id: BufferId): boolean =>
      !this.#fixed.has(id) &&
      !this.#results.has(id) &&
      this.#readers(id).length === 1 &&
      this.#writers(id).length > 0;
    if (a === b || !single(a) || !single(b)) return [result];
    this.#launches[at] = null;
    return [...this.#terms(a), ...this.#terms(b)];
  }

  /** Makes the launches that write `result` add to its target. */
  #retarget(result: BufferId, open: ReadonlyMap<BufferId, BufferId>): boolean {
    const target = open.get(result) as BufferId;
    const writers = this.#writers(result);
    const [first, ...rest] = writers.map((at) => this.#launches[at] as Launch);
    // Sent with an earlier result of the same launch.
    if (!first) return true;
    if (first.kernel?.role === 'zero' && rest.length > 0 && rest.every((launch) => launch.kernel?.adds)) {
      this.#launches[writers[0] as number] = null;
      for (const at of writers.slice(1)) {
        this.#launches[at] = { ...(this.#launches[at] as Launch), outputs: [target] };
      }
      return true;
    }
    const accumulating = first.kernel?.accumulating?.();
    if (rest.length > 0 || !accumulating || !first.outputs.every((id) => open.has(id))) return false;
    this.#launches[writers[0] as number] = {
      kernel: accumulating,
      inputs: first.inputs,
      outputs: first.outputs.map((id) => open.get(id) as BufferId),
    };
    return true;
  }

  /** At the end of the step: by name where the buffer is the step's own, else by one more launch. */
  #deliver(launches: readonly Launch[], { result, target, add }: Sink): Launch[] {
    const elements = (this.#bytes.get(result) as number) / 4;
    const from = this.#renamed.get(result) ?? result;
    if (add) return [...launches, extra(accumulateKernel(elements), from, target)];
    const own = !this.#fixed.has(from) && launches.some((launch) => writes(launch, from));
    if (!own || from !== result) return [...launches, extra(copyKernel(elements), from, target)];
    this.#renamed.set(result, target);
    const rename = (id: BufferId): BufferId => (id === result ? target : id);
    return launches.map((launch) => ({
      ...launch,
      inputs: launch.inputs.map(rename),
      outputs: launch.outputs.map(rename),
    }));
  }

  #readers(id: BufferId): number[] {
    return this.#launches.flatMap((launch, at) => (launch?.inputs.includes(id) ? [at] : []));
  }

  #writers(id: BufferId): number[] {
    return this.#launches.flatMap((launch, at) => (launch && writes(launch, id) ? [at] : []));
  }
}

function extra(kernel: Kernel, input: BufferId, output: BufferId): KernelLaunch {
  if (!switchedOn(kernel.name)) throw new Error(`the kernel ${kernel.name} is switched off on this device`);
  return { kernel, inputs: [input], outputs: [output] };
}

function withoutUnread(launches: readonly Launch[], wanted: ReadonlySet<BufferId>): Launch[] {
  const needed = new Set(wanted);
  const left: Launch[] = [];
  for (const launch of [...launches].reverse()) {
    if (!launch.outputs.some((id) => needed.has(id))) continue;
    for (const id of launch.inputs) needed.add(id);
    left.push(launch);
  }
  return left.reverse();
}
