/**
 * What a planner decides: the cuts, which device holds which stages, the micro-batch, the routing weights.
 *
 * Stage i holds the layers [cuts[i], cuts[i + 1]). A device holds a contiguous range of stages: one in a classical
 * pipeline, all of them in data parallelism, and ranges that overlap in part in Helix's layer ranges (every end of a
 * range is then a cut).
 */
export interface Holding {
  /** d */
  device: number;
  /** Stages [from, to). */
  from: number;
  to: number;
  /** Micro-batches per second that it is planned for: the weight of the routing. Above 0. */
  weight: number;
  /** Micro-batches that may be in flight on it at one time, by its memory and the order; at least 1. */
  window: number;
}

export interface Plan {
  /** cuts[0] = 0, strictly growing, the last is the number of layers. */
  cuts: readonly number[];
  holdings: readonly Holding[];
  /** Samples of one micro-batch (of all but, perhaps, the last of a step). */
  microBatch: number;
  /** Pipelines fixed in advance: the devices of each, from the first stage to the last. Null where routing decides. */
  pipelines: readonly (readonly number[])[] | null;
}

export function stageCount(plan: Plan): number {
  return plan.cuts.length - 1;
}

/** The replicas of stage i. */
export function replicasOf(plan: Plan, stage: number): Holding[] {
  return plan.holdings.filter(({ from, to }) => from <= stage && stage < to);
}

/** Why a problem has no plan: said with numbers, for the person who reads it. */
export class InfeasiblePlanError extends Error {
  override name = 'InfeasiblePlanError';
}
