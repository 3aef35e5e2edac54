/** The driver's side of the contract, in miniature, for tests: it checks every command against the invariants. */
import type { FailureReason } from '@tabweave/shared';
import { expect } from 'vitest';
import { createCoordinator } from '../coordinator.ts';
import type {
  Coordinator,
  CoordinatorCommand,
  CoordinatorConfig,
  CoordinatorEvent,
  LeasedTask,
  TaskTimings,
} from '../types.ts';

export const base: CoordinatorConfig = {
  globalBatch: 8,
  maxSteps: 4,
  evaluateEvery: 2,
  evaluationSamples: 5,
  batchPolicy: 'proportional',
  firstLease: 1000,
  gatherMilliseconds: 50,
  lease: { minimumMilliseconds: 100, maximumMilliseconds: 2000, factor: 4, unknownMilliseconds: 500 },
  setAside: { failures: 3, milliseconds: 300 },
};

export const quick: TaskTimings = {
  downloadMilliseconds: 1,
  computeMilliseconds: 10,
  uploadMilliseconds: 1,
  cold: false,
};

export interface ModelLease {
  task: LeasedTask;
  worker: string;
  leasedAt: number;
  takenIn: boolean;
}

export class Model {
  readonly coordinator: Coordinator;
  readonly config: CoordinatorConfig;
  now = 0;
  version = 0;
  committing = false;
  complete = false;
  /** Leases that have not ended, as far as a driver can tell. */
  readonly live = new Map<number, ModelLease>();
  /** How often the store has added each sample. */
  readonly counted = new Map<string, number>();
  readonly evaluatedVersions: number[] = [];
  readonly notices: string[] = [];
  #lastLease: number;

  constructor(config: Partial<CoordinatorConfig> = {}) {
    this.config = { ...base, ...config };
    this.coordinator = createCoordinator(this.config);
    this.#lastLease = this.config.firstLease - 1;
  }

  feed(event: CoordinatorEvent): CoordinatorCommand[] {
    const commands = this.coordinator.handle(event, this.now);
    for (const command of commands) this.#check(command);
    this.#checkState();
    return commands;
  }

  open(): this {
    this.feed({ type: 'run-opened', version: this.version, evaluated: false });
    this.now += this.config.gatherMilliseconds;
    this.feed({ type: 'tick' });
    return this;
  }

  /** A connection replaces the one that the worker had. */
  join(...workers: string[]): this {
    for (const worker of workers) {
      this.#forget(worker);
      this.feed({ type: 'worker-joined', worker, profile: { maxPassSize: 4 } });
    }
    return this;
  }

  leave(worker: string): void {
    this.#forget(worker);
    this.feed({ type: 'worker-left', worker });
  }

  /** The task that a worker is at. */
  leaseOf(worker: string): ModelLease & { lease: number } {
    for (const [lease, live] of this.live)
      if (live.worker === worker && !live.takenIn) return { lease, ...live };
    throw new Error(`${worker} holds no lease`);
  }

  offer(worker: string, lease: number): CoordinatorCommand | undefined {
    return this.feed({ type: 'contribution-offered', worker, lease }).find((command) =>
      command.type.endsWith('-contribution'),
    );
  }

  /** What a correct store does once a contribution is being taken in. */
  report(lease: number, accepted: boolean, timings = quick): void {
    const live = this.live.get(lease);
    if (!live?.takenIn) return;
    this.live.delete(lease);
    const { worker } = live;
    if (!accepted) {
      this.feed({ type: 'contribution-refused', worker, lease, message: 'norm out of bounds' });
      return;
    }
    for (let i = live.task.samples.start; i < live.task.samples.end; i++) {
      const key = sampleKey(live.task, i);
      this.counted.set(key, (this.counted.get(key) ?? 0) + 1);
    }
    this.feed({ type: 'contribution-accepted', worker, lease, timings });
  }

  /** The worker's task succeeds, from offer to report. */
  succeed(worker: string, timings = quick): void {
    const { lease } = this.leaseOf(worker);
    expect(this.offer(worker, lease)).toMatchObject({ type: 'accept-contribution' });
    this.report(lease, true, timings);
  }

  fail(worker: string, reason: FailureReason, message = 'it failed'): void {
    const { lease } = this.leaseOf(worker);
    this.live.delete(lease);
    this.feed({ type: 'task-failed', worker, lease, reason, message });
  }

  commit(): void {
    if (!this.committing) return;
    this.committing = false;
    this.version++;
    this.feed({ type: 'step-committed', version: this.version });
  }

  /** Lets time pass to when the coordinator has asked for it. @returns false when it has not. */
  tick(): boolean {
    const next = this.coordinator.nextTick();
    if (next === null) return false;
    this.now = Math.max(this.now, next);
    this.feed({ type: 'tick' });
    return true;
  }

  stateOf(worker: string): string | undefined {
    return this.coordinator.view().workers.find((view) => view.worker === worker)?.state;
  }

  /** A worker's leases end with its connection, but for what is being taken in. */
  #forget(worker: string): void {
    for (const [lease, live] of this.live)
      if (live.worker === worker && !live.takenIn) this.live.delete(lease);
  }

  #check(command: CoordinatorCommand): void {
    switch (command.type) {
      case 'lease':
        this.#checkLease(command.worker, command.task);
        return;
      case 'cancel':
        expect(this.live.get(command.lease)?.takenIn ?? false, 'nothing taken in is cancelled').toBe(false);
        this.live.delete(command.lease);
        return;
      case 'accept-contribution': {
        const live = this.live.get(command.lease);
        expect(live, 'what is accepted is live').toMatchObject({ worker: command.worker, takenIn: false });
        if (live) live.takenIn = true;
        return;
      }
      case 'commit-step':
        expect(command.version).toBe(this.version);
        expect(this.committing).toBe(false);
        this.committing = true;
        this.#expectEachOnce('train', this.version, this.config.globalBatch);
        return;
      case 'evaluation-complete':
        this.evaluatedVersions.push(command.version);
        this.#expectEachOnce('evaluate', command.version, this.config.evaluationSamples);
        return;
      case 'run-complete':
        expect(command.version).toBe(this.config.maxSteps);
        this.complete = true;
        return;
      case 'notify':
        this.notices.push(`${command.worker}:${command.code}`);
        return;
      case 'refuse-contribution':
        return;
    }
  }

  #checkLease(worker: string, task: LeasedTask): void {
    expect(task.lease, 'lease numbers grow').toBeGreaterThan(this.#lastLease);
    this.#lastLease = task.lease;
    expect(task.version).toBe(this.version);
    const { start, end } = task.samples;
    const total = task.kind === 'train' ? this.config.globalBatch : this.config.evaluationSamples;
    expect(start >= 0 && start < end && end <= total, `samples ${start} to ${end} of ${total}`).toBe(true);
    expect(task.passSize >= 1 && task.passSize <= end - start).toBe(true);
    for (const other of this.live.values()) {
      const apart =
        other.task.kind !== task.kind || other.task.samples.end <= start || end <= other.task.samples.start;
      expect(apart, 'no sample under two live leases, one being taken in included').toBe(true);
      expect(other.worker === worker && !other.takenIn, 'one live lease for a worker').toBe(false);
    }
    for (let i = start; i < end; i++) {
      expect(this.counted.has(sampleKey(task, i)), 'no counted sample is leased again').toBe(false);
    }
    this.live.set(task.lease, { task, worker, leasedAt: this.now, takenIn: false });
  }

  #checkState(): void {
    let leased = 0;
    for (const { task, leasedAt, takenIn } of this.live.values()) {
      leased += task.samples.end - task.samples.start;
      const age = this.now - leasedAt;
      expect(takenIn || age < this.config.lease.maximumMilliseconds, `a lease ${age} ms old`).toBe(true);
    }
    const { samples } = this.coordinator.view();
    expect(samples.leased, 'every sample is waiting, leased or accepted').toBe(leased);
    expect(Math.min(samples.waiting, samples.accepted)).toBeGreaterThanOrEqual(0);
  }

  #expectEachOnce(kind: 'train' | 'evaluate', version: number, total: number): void {
    for (let i = 0; i < total; i++) {
      expect(this.counted.get(`${kind}:${version}:${i}`), `${kind} sample ${i} of version ${version}`).toBe(
        1,
      );
    }
  }
}

function sampleKey(task: LeasedTask, sample: number): string {
  return `${task.kind}:${task.version}:${sample}`;
}
