/**
 * The coordinator of a run whose model is cut in stages, sans-I/O: `handle(event, now) -> commands`, as in
 * `coordinator/types.ts`. Any composition of `plan/strategy.ts`; a whole model on each worker is the case of one stage.
 *
 * The unit of work is (step, micro-batch m, stage i). A task covers consecutive stages of one micro-batch on one
 * worker. The backward pass recomputes the forward from the activation that enters its stages, so that any replica
 * can do the backward of any forward (SWARM). A worker adds gradients of the backward tasks that it has finished to
 * one sum per stage and step, which is collected once; until then it holds what cannot be found elsewhere, and
 * the senders of boundary tensors keep them until the step commits. Hence a lost worker costs the units in its sum,
 * the tensors that nobody else has, and no more.
 *
 * Times are milliseconds of the driver's clock.
 */
import type { FailureReason } from '@tabweave/shared';
import type { Device } from '../plan/problem.ts';
import type { Plan } from '../plan/plan.ts';
import type { Strategy } from '../plan/strategy.ts';

/** What the coordinator asks for when the fleet changes; see `plan/`. Device d is `devices[d]` in all of them. */
export interface Planner {
  /** @throws InfeasiblePlanError */
  plan(devices: readonly Device[]): Plan;
  /**
   * The plan after devices have joined, left or changed speed, as near to the present one as pays.
   * Cuts stay as they are; indices in the result are those of `devices`.
   * @param previous the plan and the devices that its indices meant.
   */
  repair(previous: { plan: Plan; devices: readonly Device[] }, devices: readonly Device[]): Plan;
}

export interface PipelineConfig {
  strategy: Strategy;
  planner: Planner;
  globalBatch: number;
  /** Steps of the run. */
  maxSteps: number;
  firstLease: number;
  gatherMilliseconds: number;
  /** Tasks that a worker is leased at one time, so that it fetches the next while it computes; at least 1. */
  leaseDepth: number;
  lease: { minimumMilliseconds: number; maximumMilliseconds: number; factor: number };
  /** As in `CoordinatorConfig`. */
  setAside: { failures: number; milliseconds: number };
}

export type PipelineTaskKind = 'forward' | 'backward' | 'forward-backward' | 'local-steps';

/** Where a tensor is to be had: workers that have it, best first. Empty: the data shard, from the server. */
export interface TensorSource {
  /** The boundary before stage `boundary`; 0 is the model's input. */
  boundary: number;
  what: 'activation' | 'gradient';
  holders: readonly string[];
}

export interface PipelineTask {
  lease: number;
  kind: PipelineTaskKind;
  step: number;
  /** m, unique in its step. */
  microBatch: number;
  /** Sample indices in the step's global batch. */
  samples: { start: number; end: number };
  /** Stages [from, to). A forward-backward task ends at the last stage. */
  from: number;
  to: number;
  /** Parameter version to compute on. */
  version: number;
  inputs: readonly TensorSource[];
  /** Whether a backward task adds to the worker's gradient sum, or only makes a lost boundary gradient again. */
  accumulate: boolean;
  leaseMilliseconds: number;
}

/** Milliseconds that a finished task took. */
export interface PipelineTimings {
  /** Fetching inputs and parameters. */
  fetchMilliseconds: number;
  computeMilliseconds: number;
  cold: boolean;
}

export type PipelineEvent =
  | { type: 'run-opened'; step: number }
  | { type: 'worker-joined'; worker: string; device: Device }
  /** A new estimate of the device, by a driver that measures it otherwise than from task timings. */
  | { type: 'worker-measured'; worker: string; device: Device }
  | { type: 'worker-left'; worker: string }
  | { type: 'worker-paused'; worker: string; reason: string }
  | { type: 'worker-resumed'; worker: string }
  /** Computed: outputs are at the worker, gradients in its sum. */
  | { type: 'task-done'; worker: string; lease: number; timings: PipelineTimings }
  | { type: 'task-failed'; worker: string; lease: number; reason: FailureReason; message: string }
  /** A tensor that a task needs could not be had from a holder. */
  | { type: 'tensor-lost'; worker: string; step: number; microBatch: number; source: TensorSource }
  /** Answers to `collect`, exactly one of them. */
  | { type: 'contribution-accepted'; worker: string; lease: number }
  | { type: 'contribution-refused'; worker: string; lease: number; message: string }
  | { type: 'contribution-dropped'; worker: string; lease: number }
  /** Answer to `commit`. */
  | { type: 'committed'; stage: number | 'all'; version: number }
  | { type: 'tick' };

export type PipelineCommand =
  /** The stages that a worker holds from now on: it may fetch their parameters ahead of a task. */
  | { type: 'hold'; worker: string; from: number; to: number; cuts: readonly number[] }
  | { type: 'lease'; worker: string; task: PipelineTask }
  | { type: 'cancel'; worker: string; lease: number; reason: string }
  /** Send the gradient sum of these stages, of exactly these micro-batches, and start a new one. */
  | {
      type: 'collect';
      worker: string;
      lease: number;
      step: number;
      from: number;
      to: number;
      version: number;
      microBatches: readonly number[];
      samples: number;
    }
  /** Throw the gradient sum of the step away: there is something in it that counts elsewhere. */
  | { type: 'reset'; worker: string; step: number }
  /**
   * Make the next version durable. `samples` of the step, `weight` their sum after scaling by staleness.
   * Where `stage` is 'all', of all stages or none.
   */
  | {
      type: 'commit';
      stage: number | 'all';
      version: number;
      step: number;
      samples: number;
      staleness: number;
    }
  /** Nothing of this step is needed any more: tensors, sums. */
  | { type: 'forget'; step: number }
  /** No plan is possible with the workers that are there; the run waits. */
  | { type: 'waiting'; reason: string }
  | { type: 'planned'; plan: Plan; workers: readonly string[]; whole: boolean }
  | { type: 'run-complete'; version: number };

export interface PipelineView {
  phase: 'idle' | 'gathering' | 'waiting' | 'running' | 'complete';
  /** Committed version of each stage. */
  versions: readonly number[];
  openSteps: readonly {
    step: number;
    units: { waiting: number; leased: number; summed: number; counted: number };
  }[];
  workers: readonly {
    worker: string;
    state: 'idle' | 'working' | 'paused' | 'set-aside';
    from: number;
    to: number;
    inFlight: number;
  }[];
  /** Units computed a second time, and all units computed. */
  rework: { again: number; all: number };
}

export interface PipelineCoordinator {
  /** Events that no longer apply are answered or ignored, never thrown. O(log workers) but for re-plans. */
  handle(event: PipelineEvent, now: number): PipelineCommand[];
  nextTick(): number | null;
  view(): PipelineView;
}
