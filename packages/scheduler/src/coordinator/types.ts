/**
 * The coordinator of one run, sans-I/O: `coordinator(state, event, now) -> commands`. A driver (the server, or
 * the simulator) turns its commands into sockets and storage and feeds back what happened. No clock, no timers,
 * no randomness inside; times are milliseconds of the driver's clock.
 */
import type { FailureReason } from '@tabweave/shared';

export type TaskKind = 'train' | 'evaluate';

/** Half-open range of sample indices. */
export interface SampleRange {
  start: number;
  end: number;
}

/** What a worker is able to do, as it reported. */
export interface WorkerProfile {
  /** Samples that fit its memory in one pass; at least 1. */
  maxPassSize: number;
}

export interface CoordinatorConfig {
  globalBatch: number;
  /** Steps of the run: it is complete at this version. */
  maxSteps: number;
  /** Versions above 0 divisible by this are evaluated; 0 for none. The last version always is, when not 0. */
  evaluateEvery: number;
  /** Samples of one evaluation; 0 for none. */
  evaluationSamples: number;
  batchPolicy: 'proportional' | 'equal';
  /** First lease number to use: above all that any earlier process used (fencing). */
  firstLease: number;
  /** How long a newly opened run, or one all of whose workers left, waits for more workers to gather. */
  gatherMilliseconds: number;
  /**
   * Bounds and factor of a lease: factor x expected time of the task, within [minimum, maximum]. Progress renews it,
   * to three times its length and never beyond the maximum.
   */
  lease: {
    minimumMilliseconds: number;
    maximumMilliseconds: number;
    factor: number;
    unknownMilliseconds: number;
  };
  /**
   * Failures or refused contributions in a row that set a worker aside, and for how long the first time (it doubles).
   * A cancelled task, or one left behind, counts half; a lease that ends without any progress sets aside at once.
   */
  setAside: { failures: number; milliseconds: number };
}

export interface LeasedTask {
  lease: number;
  kind: TaskKind;
  version: number;
  samples: SampleRange;
  passSize: number;
  leaseMilliseconds: number;
}

export interface TaskTimings {
  downloadMilliseconds: number;
  computeMilliseconds: number;
  uploadMilliseconds: number;
  /** Compilation fell into it: not used for estimates. */
  cold: boolean;
}

export type CoordinatorEvent =
  | { type: 'worker-joined'; worker: string; profile: WorkerProfile }
  | { type: 'worker-left'; worker: string }
  | { type: 'worker-paused'; worker: string; reason: string }
  | { type: 'worker-resumed'; worker: string }
  | { type: 'task-progress'; worker: string; lease: number }
  | { type: 'task-failed'; worker: string; lease: number; reason: FailureReason; message: string }
  /** A worker asks whether its contribution would count; while it is taken in, the lease is held open. */
  | { type: 'contribution-offered'; worker: string; lease: number }
  /** The store has checked and added it. This or the next always follows `accept-contribution`. */
  | { type: 'contribution-accepted'; worker: string; lease: number; timings: TaskTimings }
  /** The store refused it (shape, finiteness, norm). */
  | { type: 'contribution-refused'; worker: string; lease: number; message: string }
  /** The store itself failed on it: the samples go out again, and the worker is not to blame. */
  | { type: 'contribution-dropped'; worker: string; lease: number }
  /** The step that was asked for by `commit-step` is durable; `version` is the new one. */
  | { type: 'step-committed'; version: number }
  /** An admin opens, pauses, resumes the run. `version` is the last committed one. */
  | { type: 'run-opened'; version: number; evaluated: boolean }
  | { type: 'run-paused' }
  | { type: 'run-resumed' }
  | { type: 'tick' };

export type CoordinatorCommand =
  | { type: 'lease'; worker: string; task: LeasedTask }
  | { type: 'cancel'; worker: string; lease: number; reason: string }
  /** Answer to `contribution-offered`: take it in, or refuse it with a code. */
  | { type: 'accept-contribution'; worker: string; lease: number; task: LeasedTask }
  | {
      type: 'refuse-contribution';
      worker: string;
      lease: number;
      code: 'LEASE_EXPIRED' | 'DUPLICATE';
      reason: string;
    }
  /** Every evaluation sample of `version` is in. */
  | { type: 'evaluation-complete'; version: number }
  /** Every sample of the step (and of its evaluation) is in: make version + 1 durable, then say step-committed. */
  | { type: 'commit-step'; version: number }
  /** The run has reached its last version, and that version's evaluation is in. */
  | { type: 'run-complete'; version: number }
  | {
      type: 'notify';
      worker: string;
      code: 'waiting-for-step' | 'no-share' | 'set-aside' | 'run-paused';
      message: string;
    };

/** What a dashboard shows of a worker. */
export interface WorkerView {
  worker: string;
  state: 'idle' | 'working' | 'paused' | 'set-aside';
  reason: string;
  microBatch: number;
  passSize: number;
  /** Smoothed, null before the first warm measurement. */
  stepMilliseconds: number | null;
  computeMilliseconds: number | null;
  transferMilliseconds: number | null;
  samplesPerSecond: number | null;
  acceptedSamples: number;
  acceptedContributions: number;
  refusedContributions: number;
  failures: number;
}

export interface CoordinatorView {
  phase: 'idle' | 'gathering' | 'stepping' | 'committing' | 'paused' | 'complete';
  version: number;
  /** Samples of the open step in each condition; they sum to globalBatch + evaluation samples due. */
  samples: { waiting: number; leased: number; accepted: number };
  /** In the open step. */
  requeued: number;
  refused: number;
  workers: WorkerView[];
}

export interface Coordinator {
  /** Handles one event. Events that no longer apply (a lease of the past) are answered or ignored, never thrown. */
  handle(event: CoordinatorEvent, now: number): CoordinatorCommand[];
  /** When the next `tick` is needed; null for none. */
  nextTick(): number | null;
  view(): CoordinatorView;
}
