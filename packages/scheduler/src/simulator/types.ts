/**
 * What the simulator is given and what it answers. Discrete events in virtual time, seeded, deterministic; it turns
 * the coordinators that ship. Seconds, bytes, FLOPs, samples.
 */
import type { Plan } from '../plan/plan.ts';
import type { Problem } from '../plan/problem.ts';
import type { Strategy } from '../plan/strategy.ts';

/** A device's rate over time is its `rate` x the factor of the last change that has begun. */
export interface RateChange {
  at: number;
  factor: number;
}

/** When devices are there. Without an entry a device is there from 0 on, and leaves by its hazard only. */
export interface Presence {
  device: number;
  joinsAt: number;
  leavesAt: number | null;
}

export interface Simulation {
  problem: Problem;
  strategy: Strategy;
  seed: number;
  /** Ends when one of them is reached. */
  maxSteps: number;
  maxSeconds: number;
  /** By device d. */
  rateChanges: ReadonlyMap<number, readonly RateChange[]>;
  presence: readonly Presence[];
  /** Seconds after which a device that left by its hazard returns; Infinity for never. */
  returnSeconds: number;
  /** Share by which the time of each task varies (standard deviation of a log-normal factor). */
  noise: number;
  /** Plans to use instead of the strategy's own partition and placement. */
  plan: Plan | null;
  /** Keep spans for a chart, of so many devices at most. */
  timelineDevices: number;
  learning: Learning | null;
}

/** Real training that rides on the simulated schedule: see `simulator/learning/`. */
export interface Learning {
  /** The sum of gradients over samples of the global batch of `step`, at the parameters of `version`. */
  gradient(version: number, step: number, samples: { start: number; end: number }): Float32Array;
  /** Makes the next version of the mean gradient. */
  step(version: number, meanGradient: Float32Array): void;
  /** A worker's change after `steps` local steps from `version`, and an outer step with the weighted mean of them. */
  localSteps(version: number, seed: number, steps: number, samples: number): Float32Array;
  outerStep(version: number, meanChange: Float32Array): void;
  /** On held-out data. */
  evaluate(version: number): { loss: number; accuracy: number };
}

export type SpanKind = 'load' | 'receive' | 'forward' | 'backward' | 'send' | 'contribute';

export interface Span {
  device: number;
  kind: SpanKind;
  from: number;
  to: number;
  step: number;
  microBatch: number;
  /** First stage of the task. */
  stage: number;
}

export interface SimulationResult {
  /** Virtual seconds until the end, and until the first commit. */
  seconds: number;
  steps: number;
  /** Of committed steps. */
  samples: number;
  samplesPerSecond: number;
  /** Sum of what every worker would do alone, links and memory allowing: samples/s. */
  idealSamplesPerSecond: number;
  shareOfIdeal: number;
  /** Share of the present devices' time in which they did not compute. */
  idle: number;
  bytes: { up: number; down: number; betweenPeers: number };
  /** FLOPs computed for nothing, as a share of all. */
  rework: number;
  staleness: { mean: number; largest: number };
  /** Largest memory in use, as a share of the device's, over devices. */
  memoryPeak: number;
  /** In-flight micro-batches at most on each device that was used, by device. */
  inFlightPeak: ReadonlyMap<number, number>;
  /** Events that the coordinator handled, and milliseconds of this machine that it took. */
  events: number;
  coordinatorMilliseconds: number;
  /** `milliseconds` of this machine. */
  replans: readonly { at: number; whole: boolean; milliseconds: number; movedBytes: number }[];
  commits: readonly { at: number; step: number; stage: number | 'all'; samples: number; staleness: number }[];
  learning: readonly { at: number; samples: number; loss: number; accuracy: number }[];
  spans: readonly Span[];
  /** First plan. */
  plan: Plan | null;
}
