/**
 * A strategy: a composition of policies. The types allow only those that make sense together, and the property tests
 * go over every one of them.
 */
export type Partition = 'whole' | 'uniform' | 'dynamic-programming' | 'speed-proportional';
export type Placement = 'round-robin' | 'clustering' | 'evolutionary' | 'swap-search' | 'max-flow';
export type Routing = 'fixed' | 'weighted-round-robin' | 'earliest-finish';
/** How large each worker's share is, where every worker holds the whole model; pipelines weigh their routes instead. */
export type Batch = 'equal' | 'static' | 'proportional' | 'accumulate';

export interface Recovery {
  /** Lease a copy of the slowest task to an idle replica; the first to finish counts. */
  backupCopies: boolean;
  /** Repair the plan when a worker joins, leaves or slows down; otherwise only the next whole plan sees it. */
  incrementalReplan: boolean;
}

interface Common {
  partition: Partition;
  placement: Placement;
  routing: Routing;
  batch: Batch;
  recovery: Recovery;
}

/** A step is exactly its global batch at one version. */
export interface Synchronous extends Common {
  order: 'fill-drain' | '1f1b' | 'task-pool';
  aggregation: { kind: 'synchronous' };
}

/** Step t is computed on version t - 1 while step t - 1 is aggregated: a delay of exactly one (ABS-SGD, 2BW). */
export interface Delayed extends Common {
  order: '1f1b' | 'task-pool';
  aggregation: { kind: 'delayed' };
}

/** Each stage steps when enough is in; a contribution more than `bound` versions old is refused. */
export interface BoundedStaleness extends Common {
  order: 'async-1f1b' | 'task-pool';
  aggregation: {
    kind: 'bounded-staleness';
    bound: number;
    /** Samples that make a step of a stage. */
    stepSamples: number;
    /** A contribution of staleness s counts 1 / (1 + s), or fully. */
    scaling: 'inverse' | 'none';
  };
}

/** Workers take `steps` steps alone on the whole model; the mean change is an outer Nesterov step (DiLoCo). */
export interface LocalSteps extends Common {
  partition: 'whole';
  order: 'task-pool';
  aggregation: {
    kind: 'local-steps';
    steps: number;
    /** Share of the able workers that a round waits for, and seconds more that it waits for the others. */
    quorum: number;
    graceSeconds: number;
  };
}

export type Strategy = Synchronous | Delayed | BoundedStaleness | LocalSteps;
