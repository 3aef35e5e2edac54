/** One connected worker as the coordinator knows it: ability, estimates, standing. */
import { SpeedEstimate } from '../batch/speed-estimate.ts';
import { Standing } from './standing.ts';
import type { CoordinatorConfig, WorkerView } from './types.ts';

/** What outlives a connection. */
export interface WorkerMemory {
  speed: SpeedEstimate;
  standing: Standing;
}

export class WorkerState implements WorkerMemory {
  readonly id: string;
  readonly speed: SpeedEstimate;
  readonly standing: Standing;
  /** Samples of one pass; halves when the device's memory is full. */
  passSize: number;
  /** Lease that it holds. */
  lease: number | null = null;
  pausedReason: string | null = null;
  /** Its size in the open step's plan; null when it was not there to be planned for. */
  microBatch: number | null = null;
  acceptedSamples = 0;
  acceptedContributions = 0;
  refusedContributions = 0;
  /** Last notice, so that the same one is not sent twice. */
  told = '';

  constructor(id: string, maxPassSize: number, memory?: WorkerMemory) {
    this.id = id;
    this.passSize = Math.max(1, Math.floor(maxPassSize) || 1);
    this.speed = memory?.speed ?? new SpeedEstimate();
    this.standing = memory?.standing ?? new Standing();
  }

  /** May be given work (whether or not it has some now). */
  get able(): boolean {
    return this.pausedReason === null && this.standing.setAsideUntil === null;
  }

  /** Milliseconds of a lease on so many samples: a multiple of the predicted time, within bounds. */
  leaseMilliseconds(samples: number, bounds: CoordinatorConfig['lease']): number {
    const expected = this.speed.known
      ? bounds.factor * this.speed.predict(samples)
      : bounds.unknownMilliseconds;
    return Math.min(
      bounds.maximumMilliseconds,
      Math.max(bounds.minimumMilliseconds, expected * this.standing.patience),
    );
  }

  /** Samples of the largest task worth giving: one that is predicted to take half the longest lease; at least 1. */
  largestTask(bounds: CoordinatorConfig['lease']): number {
    const { speed } = this;
    const inTime = speed.known
      ? Math.floor((bounds.maximumMilliseconds / 2 - speed.fixed) / speed.perSample)
      : Infinity;
    return Math.max(1, Math.min(inTime, this.standing.sampleLimit));
  }

  view(): WorkerView {
    const { speed, standing } = this;
    const microBatch = this.microBatch ?? 0;
    const compute = speed.known ? speed.perSample * microBatch : null;
    return {
      worker: this.id,
      state: this.#state(),
      reason: this.pausedReason ?? (standing.setAsideUntil === null ? '' : standing.setAsideReason),
      microBatch,
      passSize: this.passSize,
      stepMilliseconds: compute === null ? null : compute + speed.fixed,
      computeMilliseconds: compute,
      transferMilliseconds: speed.known ? speed.fixed : null,
      samplesPerSecond: speed.known ? 1000 / speed.perSample : null,
      acceptedSamples: this.acceptedSamples,
      acceptedContributions: this.acceptedContributions,
      refusedContributions: this.refusedContributions,
      failures: standing.failures,
    };
  }

  #state(): WorkerView['state'] {
    if (this.lease !== null) return 'working';
    if (this.pausedReason !== null) return 'paused';
    return this.standing.setAsideUntil === null ? 'idle' : 'set-aside';
  }
}
