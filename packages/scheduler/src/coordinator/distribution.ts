/** Who gets which samples of the open step next. Takes them from its pools; the caller leases every share at once. */
import { type BatchPolicy, roundCosts, type WorkerSpeed } from '../batch/batch-policy.ts';
import { balancedSizes } from '../batch/split.ts';
import type { OpenStep } from './open-step.ts';
import type { CoordinatorConfig, SampleRange, TaskKind } from './types.ts';
import type { WorkerState } from './worker-state.ts';

export interface Share {
  worker: WorkerState;
  kind: TaskKind;
  samples: SampleRange;
}

/** The first distribution of a step: sizes by the batch policy over the workers that are able now. */
export function planShares(
  step: OpenStep,
  able: readonly WorkerState[],
  policy: BatchPolicy,
  config: CoordinatorConfig,
): Share[] {
  const shares: Share[] = [];
  const sizes = policy.plan(step.due.train, able.map(speedOf));
  for (const [index, worker] of able.entries()) {
    worker.microBatch = sizes[index] ?? 0;
    if (worker.lease !== null) continue;
    const samples = step.pools.train.take(Math.min(worker.microBatch, worker.largestTask(config.lease)));
    if (samples) shares.push({ worker, kind: 'train', samples });
  }
  return shares;
}

/**
 * Cuts what waits in a pool over idle workers, in sizes that would finish together.
 * Returned training samples hold up the step: all of them go out at once, to workers that have not just failed if
 * there are any. Evaluation fills the wait of whoever is idle: each takes its part of the whole, and leaves theirs to
 * those who are still training.
 */
export function poolShares(
  step: OpenStep,
  kind: TaskKind,
  able: readonly WorkerState[],
  config: CoordinatorConfig,
): Share[] {
  const pool = step.pools[kind];
  const shares: Share[] = [];
  let idle = able.filter((worker) => worker.lease === null);
  if (kind === 'train') idle = reliable(idle);
  while (!pool.empty && idle.length > 0) {
    const sharers = kind === 'evaluate' ? able : idle;
    const total = kind === 'evaluate' ? step.due.evaluate : pool.size;
    const sizes = balancedSizes(total, roundCosts(sharers.map(speedOf)));
    const sizeOf = new Map(sharers.map((worker, index) => [worker, sizes[index] ?? 0]));
    // One task is one range: scattered samples need a further round for those who got none in this one.
    const left: WorkerState[] = [];
    for (const worker of idle) {
      const samples = pool.take(Math.min(sizeOf.get(worker) ?? 0, worker.largestTask(config.lease)));
      if (samples) shares.push({ worker, kind, samples });
      else left.push(worker);
    }
    if (left.length === idle.length) break;
    idle = left;
  }
  return shares;
}

function reliable(workers: readonly WorkerState[]): WorkerState[] {
  const clean = workers.filter((worker) => worker.standing.failuresInRow === 0);
  return clean.length > 0 ? clean : [...workers];
}

function speedOf(worker: WorkerState): WorkerSpeed {
  return { worker: worker.id, speed: worker.speed };
}
