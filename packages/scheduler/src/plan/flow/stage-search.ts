/**
 * Search over stages of unequal length: devices are grouped as the replicas of one stage, whose length is the most
 * layers that the replicas still pass at the target flow together. The stages of all groups, one after another, have
 * to reach L layers. Where in the model a stage lies does not matter, so that the search is over the grouping alone.
 *
 * With regions (`groups`), each stage has devices of one region; and where the flow crosses from region to region,
 * the stage that receives it (or sends it) has its devices' rates capped at what one slow link carries, so that
 * several have to share the crossing.
 */
import type { Random } from '@tabweave/shared';
import type { FlowProblem, Placement } from './flow-problem.ts';
import { emptyPlacement } from './flow-problem.ts';

/** Where devices of one region meet the flow of another: every rate in this stage is at most `cap`. */
export interface StageSlot {
  group: number;
  cap: number;
}

export interface StageShape {
  /** Region of device d. */
  groups: readonly number[];
  /** Stages from first to last, by region: [the receiving slot], stages without cap, [the sending slot]. */
  order: readonly number[];
  receive: readonly (StageSlot | null)[];
  send: readonly (StageSlot | null)[];
}

/** All devices are one region. */
export function oneRegion(devices: number): StageShape {
  return { groups: new Array<number>(devices).fill(0), order: [0], receive: [null], send: [null] };
}

/** Layers that a crossing without any device would cost; in part, what its devices lack. */
const unmetCrossing = 12;

interface Stage {
  group: number;
  cap: number;
  members: number[];
  length: number;
  /** `length`, and the share of the target that the members would pass with one layer more. */
  value: number;
}

export class StageSearch {
  readonly #problem: FlowProblem;
  readonly #shape: StageShape;
  readonly #random: Random;
  readonly #stages: Stage[] = [];
  readonly #stageOf: Int32Array;
  /** Rate of device d with k of the model's middle layers. */
  readonly #rates: Float64Array[];
  #target = 0;
  /** Groupings tried. */
  evaluations = 0;

  constructor(problem: FlowProblem, shape: StageShape, random: Random) {
    this.#problem = problem;
    this.#shape = shape;
    this.#random = random;
    this.#rates = Array.from({ length: problem.devices }, (_, device) => middleRates(problem, device));
    this.#stageOf = new Int32Array(problem.devices);
    for (const [index, group] of shape.order.entries())
      for (const slot of [shape.receive[index], shape.send[index]])
        if (slot != null) this.#stages.push({ group, cap: slot.cap, members: [], length: 0, value: 0 });
  }

  /** Sum of the stages' lengths. */
  get layers(): number {
    return this.#stages.reduce((sum, { length }) => sum + length, 0);
  }

  /** Whether the stages reach L layers, and the flow is passed at every crossing. */
  get filled(): boolean {
    return (
      this.layers >= this.#problem.layers &&
      this.#stages.every(({ cap, length }) => cap === Infinity || length > 0)
    );
  }

  /**
   * Groups anew for the target: fast devices alone, then annealing over moves and swaps.
   * @returns whether the stages' lengths reach L.
   */
  search(target: number, tries: number): boolean {
    const random = this.#random;
    const { devices } = this.#problem;
    this.#target = target;
    this.#start();
    const hot = 0.5;
    const cold = 0.02;
    for (let attempt = 0; attempt < tries && !this.filled; attempt++) {
      this.evaluations++;
      const temperature = hot * (cold / hot) ** (attempt / tries);
      const device = random.below(devices);
      const group = this.#shape.groups[device]!;
      const from = this.#stageOf[device]!;
      const to = this.#pickStage(group);
      if (to === from) continue;
      const before = this.#stages[from]!.value + this.#stages[to]!.value;
      const { members } = this.#stages[to]!;
      const other =
        random.uniform() < 0.5 && members.length > 0 ? members[random.below(members.length)]! : null;
      this.#move(device, to);
      if (other !== null) this.#move(other, from);
      const gain = this.#stages[from]!.value + this.#stages[to]!.value - before;
      if (gain >= 0 || random.uniform() < Math.exp(gain / temperature)) continue;
      this.#move(device, from);
      if (other !== null) this.#move(other, to);
    }
    return this.filled;
  }

  /**
   * Lays the stages out from layer 0 on, each as long as its devices pass the target with the layers that are there.
   * Where they end before L, the last ones are drawn out to it.
   */
  placement(): Placement {
    const { layers, devices } = this.#problem;
    const result = emptyPlacement(devices);
    const sequence = this.#sequence();
    let from = 0;
    let short = layers - this.layers;
    sequence.forEach((stage, index) => {
      const last = index === sequence.length - 1;
      let to = Math.min(layers, from + this.#length(stage, from));
      if (short > 0 && to < layers) {
        const more = Math.ceil(short / (sequence.length - index));
        to = Math.min(layers, to + more);
        short -= more;
      }
      if (last) to = layers;
      for (const device of stage.members) {
        const end = Math.min(to, this.#problem.reach(device, from));
        if (end <= from) continue;
        result.from[device] = from;
        result.to[device] = end;
      }
      from = Math.min(to, layers - 1);
    });
    return result;
  }

  #sequence(): Stage[] {
    const { order, receive, send } = this.#shape;
    const slots = this.#stages.filter(({ cap }) => cap < Infinity);
    const sequence: Stage[] = [];
    for (const [index, group] of order.entries()) {
      const own = slots.filter((slot) => slot.group === group);
      const first = receive[index] == null ? null : own[0]!;
      const last = send[index] == null ? null : own[own.length - 1]!;
      if (first !== null) sequence.push(first);
      sequence.push(...this.#stages.filter((stage) => stage.group === group && stage.cap === Infinity));
      if (last !== null) sequence.push(last);
    }
    return sequence.filter(({ members }) => members.length > 0);
  }

  /** Devices that reach the target alone with a layer or more are stages; the others join the stage that lacks least. */
  #start(): void {
    for (let index = this.#stages.length - 1; index >= 0; index--)
      if (this.#stages[index]!.cap === Infinity) this.#stages.splice(index, 1);
    for (const stage of this.#stages) {
      stage.members = [];
      this.#measure(stage);
    }
    for (let device = 0; device < this.#problem.devices; device++) {
      this.#stages.push({
        group: this.#shape.groups[device]!,
        cap: Infinity,
        members: [device],
        length: 0,
        value: 0,
      });
      this.#stageOf[device] = this.#stages.length - 1;
      this.#measure(this.#stages[this.#stages.length - 1]!);
    }
  }

  #pickStage(group: number): number {
    for (;;) {
      const index = this.#random.below(this.#stages.length);
      if (this.#stages[index]!.group === group) return index;
    }
  }

  #move(device: number, to: number): void {
    const from = this.#stages[this.#stageOf[device]!]!;
    from.members.splice(from.members.indexOf(device), 1);
    this.#measure(from);
    this.#stageOf[device] = to;
    this.#stages[to]!.members.push(device);
    this.#measure(this.#stages[to]!);
  }

  #measure(stage: Stage): void {
    let length = 0;
    let sum = 0;
    for (;;) {
      sum = 0;
      for (const device of stage.members) sum += Math.min(stage.cap, this.#rates[device]![length] ?? 0);
      if (sum < this.#target || length === this.#problem.layers) break;
      length++;
    }
    stage.length = length;
    stage.value = length + (0.5 * sum) / this.#target;
    if (stage.cap < Infinity && length === 0) stage.value -= unmetCrossing * (1 - sum / this.#target);
  }

  #length(stage: Stage, from: number): number {
    let to = from;
    for (;;) {
      let sum = 0;
      for (const device of stage.members)
        if (this.#problem.reach(device, from) > to)
          sum += Math.min(stage.cap, this.#problem.rate(device, from, to + 1));
      if (sum < this.#target * (1 - 1e-9) || to === this.#problem.layers) break;
      to++;
    }
    return to - from;
  }
}

function middleRates(problem: FlowProblem, device: number): Float64Array {
  const rates: number[] = [];
  for (let length = 1; length <= problem.layers; length++) {
    const from = (problem.layers - length) >> 1;
    if (problem.reach(device, from) < from + length) break;
    rates.push(problem.rate(device, from, from + length));
  }
  return Float64Array.from(rates);
}
