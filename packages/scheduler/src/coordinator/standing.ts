/**
 * How far a worker can be relied on: failures in a row, times set aside, how large a task it may be given.
 *
 * Counted by kind of task: a device whose gradients are refused but whose evaluations are right would otherwise clear
 * its name at every evaluation. It outlives a connection, or a device that is lost at each task would return clean.
 */
import type { CoordinatorConfig, TaskKind } from './types.ts';

/** Milliseconds for which a worker is set aside at most. */
const longestSetAside = 3_600_000;

interface KindRecord {
  failuresInRow: number;
  /** Less what has succeeded since. While above 0 the worker is on probation: one failure sets it aside again. */
  timesSetAside: number;
}

export class Standing {
  failures = 0;
  setAsideUntil: number | null = null;
  setAsideReason = '';
  /** Samples of its largest task; halves when a task outlasts its lease, grows again as tasks succeed. */
  sampleLimit = Infinity;
  /** Factor on its lease times; doubles when a task outlasts its lease and yet was under way. */
  patience = 1;
  readonly #kinds: Record<TaskKind, KindRecord> = {
    train: { failuresInRow: 0, timesSetAside: 0 },
    evaluate: { failuresInRow: 0, timesSetAside: 0 },
  };

  get failuresInRow(): number {
    return this.#kinds.train.failuresInRow + this.#kinds.evaluate.failuresInRow;
  }

  /**
   * Counts a failure; sets the worker aside when there have been too many in a row.
   * @param failure.weight below 1 for what is not quite the worker's fault.
   * @returns whether it has been set aside.
   */
  fail(
    failure: { kind: TaskKind; reason: string; weight: number },
    now: number,
    config: CoordinatorConfig,
  ): boolean {
    const record = this.#kinds[failure.kind];
    this.failures++;
    record.failuresInRow += failure.weight;
    const allowed = record.timesSetAside > 0 ? 1 : config.setAside.failures;
    if (record.failuresInRow < allowed) return false;
    this.setAside(failure, now, config);
    return true;
  }

  /** Sets the worker aside, for twice as long as the last time. */
  setAside(failure: { kind: TaskKind; reason: string }, now: number, config: CoordinatorConfig): void {
    const record = this.#kinds[failure.kind];
    const time = Math.min(longestSetAside, config.setAside.milliseconds * 2 ** record.timesSetAside);
    record.timesSetAside++;
    record.failuresInRow = 0;
    this.setAsideUntil = now + time;
    this.setAsideReason = failure.reason;
  }

  /** Ends a time aside that is over. */
  refresh(now: number): void {
    if (this.setAsideUntil !== null && this.setAsideUntil <= now) this.setAsideUntil = null;
  }

  /** A task of so many samples has outlasted its lease. @param alive whether there was any progress. */
  outlasted(samples: number, alive: boolean): void {
    this.sampleLimit = Math.max(1, Math.floor(samples / 2));
    if (alive) this.patience *= 2;
  }

  succeed(kind: TaskKind): void {
    const record = this.#kinds[kind];
    record.failuresInRow = 0;
    record.timesSetAside = Math.max(0, record.timesSetAside - 1);
    this.sampleLimit *= 2;
    this.patience = Math.max(1, this.patience / 2);
  }
}
