/** One worker as the coordinator knows it: ability, estimates, standing. */
import { SpeedEstimate } from '../batch/speed-estimate.ts';
import type { CoordinatorConfig, WorkerView } from './types.ts';

/** A worker is never set aside for longer than this. */
const longestSetAside = 3_600_000;

export class WorkerState {
  readonly id: string;
  readonly speed: SpeedEstimate;
  passSize: number;
  /** Lease that it holds. */
  lease: number | null = null;
  pausedReason: string | null = null;
  setAsideUntil: number | null = null;
  setAsideReason = '';
  setAsideTimes = 0;
  failuresInRow = 0;
  failures = 0;
  /** Its size in the present plan. */
  microBatch = 0;
  acceptedSamples = 0;
  acceptedContributions = 0;
  refusedContributions = 0;
  /** Last notice, so that the same one is not sent twice. */
  told = '';

  constructor(id: string, passSize: number, speed = new SpeedEstimate()) {
    this.id = id;
    this.passSize = Math.max(1, passSize);
    this.speed = speed;
  }

  /** May be given work (whether or not it has some now). */
  get able(): boolean {
    return this.pausedReason === null && this.setAsideUntil === null;
  }

  /** Counts a failure; sets the worker aside when there have been too many in a row. @returns whether it did. */
  fail(reason: string, now: number, config: CoordinatorConfig): boolean {
    this.failures++;
    this.failuresInRow++;
    if (this.failuresInRow < config.setAside.failures) return false;
    this.setAside(reason, now, config);
    return true;
  }

  setAside(reason: string, now: number, config: CoordinatorConfig): void {
    const time = Math.min(longestSetAside, config.setAside.milliseconds * 2 ** this.setAsideTimes);
    this.setAsideTimes++;
    this.setAsideUntil = now + time;
    this.setAsideReason = reason;
    this.failuresInRow = 0;
  }

  succeed(samples: number): void {
    this.failuresInRow = 0;
    this.setAsideTimes = 0;
    this.acceptedSamples += samples;
    this.acceptedContributions++;
  }

  view(): WorkerView {
    const { speed } = this;
    const compute = speed.known ? speed.perSample * this.microBatch : null;
    return {
      worker: this.id,
      state: this.#state(),
      reason: this.pausedReason ?? (this.setAsideUntil !== null ? this.setAsideReason : ''),
      microBatch: this.microBatch,
      passSize: this.passSize,
      stepMilliseconds: compute === null ? null : compute + speed.fixed,
      computeMilliseconds: compute,
      transferMilliseconds: speed.known ? speed.fixed : null,
      samplesPerSecond: speed.known ? 1000 / speed.perSample : null,
      acceptedSamples: this.acceptedSamples,
      acceptedContributions: this.acceptedContributions,
      refusedContributions: this.refusedContributions,
      failures: this.failures,
    };
  }

  #state(): WorkerView['state'] {
    if (this.lease !== null) return 'working';
    if (this.pausedReason !== null) return 'paused';
    return this.setAsideUntil !== null ? 'set-aside' : 'idle';
  }
}
