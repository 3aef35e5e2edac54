/** The coordinator against a driver that drops, delays, repeats and lies: exactly once, leases, liveness. */
import { Random, type FailureReason } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCoordinator } from './coordinator.ts';
import type {
  Coordinator,
  CoordinatorCommand,
  CoordinatorConfig,
  CoordinatorEvent,
  LeasedTask,
} from './types.ts';

const base: CoordinatorConfig = {
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
const timings = { downloadMilliseconds: 1, computeMilliseconds: 10, uploadMilliseconds: 1, cold: false };

/** Drives a coordinator, checks its invariants at every command, and keeps the store's side of the contract. */
class Model {
  readonly coordinator: Coordinator;
  readonly config: CoordinatorConfig;
  now = 0;
  version = 0;
  complete = false;
  readonly live = new Map<number, { task: LeasedTask; worker: string; takenIn: boolean }>();
  readonly counted = new Map<string, number>();
  readonly evaluatedVersions: number[] = [];
  committing = false;
  lastLease = 0;
  readonly notices: string[] = [];

  constructor(config: Partial<CoordinatorConfig> = {}) {
    this.config = { ...base, ...config };
    this.coordinator = createCoordinator(this.config);
  }

  feed(event: CoordinatorEvent): CoordinatorCommand[] {
    const commands = this.coordinator.handle(event, this.now);
    for (const command of commands) this.check(command);
    return commands;
  }

  check(command: CoordinatorCommand): void {
    switch (command.type) {
      case 'lease': {
        const { task, worker } = command;
        expect(task.lease).toBeGreaterThan(this.lastLease);
        this.lastLease = task.lease;
        expect(task.version).toBe(this.version);
        expect(task.samples.end).toBeGreaterThan(task.samples.start);
        const total = task.kind === 'train' ? this.config.globalBatch : this.config.evaluationSamples;
        expect(task.samples.end).toBeLessThanOrEqual(total);
        for (const other of this.live.values()) {
          const apart =
            other.task.kind !== task.kind ||
            other.task.samples.end <= task.samples.start ||
            task.samples.end <= other.task.samples.start;
          expect(apart, 'no sample under two live leases').toBe(true);
          expect(other.worker === worker && !other.takenIn, 'one live lease for a worker').toBe(false);
        }
        for (let i = task.samples.start; i < task.samples.end; i++) {
          expect(this.counted.has(this.key(task, i)), 'no counted sample leased again').toBe(false);
        }
        this.live.set(task.lease, { task, worker, takenIn: false });
        break;
      }
      case 'cancel':
        expect(this.live.get(command.lease)?.takenIn ?? false, 'nothing taken in is cancelled').toBe(false);
        this.live.delete(command.lease);
        break;
      case 'accept-contribution': {
        const live = this.live.get(command.lease);
        expect(live?.worker).toBe(command.worker);
        if (live) live.takenIn = true;
        break;
      }
      case 'commit-step': {
        expect(command.version).toBe(this.version);
        expect(this.committing).toBe(false);
        this.committing = true;
        for (let i = 0; i < this.config.globalBatch; i++) {
          expect(this.counted.get(`train:${this.version}:${i}`), `sample ${i} of step ${this.version}`).toBe(
            1,
          );
        }
        break;
      }
      case 'evaluation-complete':
        this.evaluatedVersions.push(command.version);
        for (let i = 0; i < this.config.evaluationSamples; i++) {
          expect(this.counted.get(`evaluate:${command.version}:${i}`)).toBe(1);
        }
        break;
      case 'run-complete':
        this.complete = true;
        break;
      case 'notify':
        this.notices.push(`${command.worker}:${command.code}`);
        break;
      case 'refuse-contribution':
        break;
    }
  }

  key(task: LeasedTask, sample: number): string {
    return `${task.kind}:${task.version}:${sample}`;
  }

  /** What a correct store does once a contribution is being taken in. */
  report(lease: number, accepted: boolean): void {
    const live = this.live.get(lease);
    if (!live?.takenIn) return;
    this.live.delete(lease);
    if (accepted) {
      for (let i = live.task.samples.start; i < live.task.samples.end; i++) {
        const key = this.key(live.task, i);
        this.counted.set(key, (this.counted.get(key) ?? 0) + 1);
      }
      this.feed({ type: 'contribution-accepted', worker: live.worker, lease, timings });
    } else {
      this.feed({ type: 'contribution-refused', worker: live.worker, lease, message: 'refused' });
    }
  }

  commit(): void {
    if (!this.committing) return;
    this.committing = false;
    this.version++;
    this.feed({ type: 'step-committed', version: this.version });
  }

  offer(worker: string, lease: number): CoordinatorCommand | undefined {
    return this.feed({ type: 'contribution-offered', worker, lease }).find((command) =>
      command.type.endsWith('-contribution'),
    );
  }

  /** A worker's leases end with its connection, but for what is being taken in. */
  forget(worker: string): void {
    for (const [lease, live] of [...this.live]) {
      if (live.worker === worker && !live.takenIn) this.live.delete(lease);
    }
  }

  /** A worker that does everything right, whatever the clock has to do for it. */
  finishWith(worker: string): number {
    this.feed({ type: 'worker-joined', worker, profile: { maxPassSize: 4 } });
    let rounds = 0;
    while (!this.complete) {
      if (++rounds > 2000) throw new Error(`no progress: ${JSON.stringify(this.coordinator.view())}`);
      for (const [lease, live] of [...this.live]) {
        if (live.takenIn) this.report(lease, true);
        else if (live.worker === worker && this.offer(worker, lease)?.type === 'accept-contribution')
          this.report(lease, true);
      }
      this.commit();
      const tick = this.coordinator.nextTick();
      if (tick !== null) {
        this.now = Math.max(this.now, tick);
        this.feed({ type: 'tick' });
      }
    }
    return rounds;
  }

  leaseOf(worker: string): number {
    const found = [...this.live].find(([, live]) => live.worker === worker && !live.takenIn);
    if (!found) throw new Error(`${worker} holds no lease`);
    return found[0];
  }

  join(...workers: string[]): this {
    for (const worker of workers) this.feed({ type: 'worker-joined', worker, profile: { maxPassSize: 4 } });
    return this;
  }

  open(): this {
    this.feed({ type: 'run-opened', version: 0, evaluated: false });
    this.now += 60;
    this.feed({ type: 'tick' });
    return this;
  }
}

const reasons: FailureReason[] = [
  'out-of-memory',
  'device-lost',
  'non-finite',
  'download',
  'cancelled',
  'internal',
  'shader-compilation',
];

describe('random schedules', () => {
  it('count every sample exactly once, and finish with one able worker', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 9 }),
        fc.constantFrom('proportional' as const, 'equal' as const),
        (seed, globalBatch, evaluationSamples, batchPolicy) => {
          const random = new Random(seed);
          const model = new Model({
            globalBatch,
            evaluationSamples,
            batchPolicy,
            evaluateEvery: evaluationSamples > 0 ? 2 : 0,
          });
          const pick = <T>(list: readonly T[]): T | undefined => list[random.below(Math.max(1, list.length))];
          const names = ['a', 'b', 'c', 'd', 'e'];
          const past: { worker: string; lease: number }[] = [];
          model.feed({ type: 'run-opened', version: 0, evaluated: false });
          for (let i = 0; i < 150 && !model.complete; i++) {
            const worker = pick(names) as string;
            const lease = pick([...model.live.keys()]);
            const holder = lease === undefined ? undefined : model.live.get(lease);
            if (lease !== undefined && holder) past.push({ worker: holder.worker, lease });
            switch (random.below(14)) {
              case 0:
                model.forget(worker);
                model.feed({ type: 'worker-joined', worker, profile: { maxPassSize: 1 + random.below(8) } });
                break;
              case 1:
                model.forget(worker);
                model.feed({ type: 'worker-left', worker });
                break;
              case 2:
              case 3:
              case 4:
                if (lease !== undefined && holder) model.offer(holder.worker, lease);
                break;
              case 5:
              case 6:
              case 7:
                if (lease !== undefined) model.report(lease, random.uniform() < 0.85);
                break;
              case 8: {
                const old = pick(past);
                if (old) model.offer(old.worker, old.lease);
                break;
              }
              case 9:
                if (lease !== undefined && holder && !holder.takenIn) {
                  model.live.delete(lease);
                  model.feed({
                    type: 'task-failed',
                    worker: holder.worker,
                    lease,
                    reason: pick(reasons) as FailureReason,
                    message: 'x',
                  });
                }
                break;
              case 10:
                model.now += random.below(400);
                model.feed({ type: 'tick' });
                break;
              case 11:
                model.commit();
                break;
              case 12:
                model.feed(random.uniform() < 0.5 ? { type: 'run-paused' } : { type: 'run-resumed' });
                break;
              case 13:
                model.feed(
                  random.uniform() < 0.5
                    ? { type: 'worker-paused', worker, reason: 'x' }
                    : { type: 'worker-resumed', worker },
                );
                break;
            }
            const { waiting, leased, accepted } = model.coordinator.view().samples;
            expect(Math.min(waiting, leased, accepted)).toBeGreaterThanOrEqual(0);
          }
          model.feed({ type: 'run-resumed' });
          for (const worker of names) {
            model.forget(worker);
            model.feed({ type: 'worker-left', worker });
          }
          model.finishWith('rescuer');
          expect(model.version).toBe(4);
          expect(model.evaluatedVersions).toEqual(evaluationSamples > 0 ? [2, 4] : []);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('survive events about workers and leases that never were', () => {
    const model = new Model().join('a').open();
    for (const lease of [-1, 0, NaN, Infinity, 999, 1e18]) {
      model.feed({ type: 'task-progress', worker: 'a', lease });
      model.feed({ type: 'task-failed', worker: 'ghost', lease, reason: 'internal', message: '' });
      model.feed({ type: 'contribution-accepted', worker: 'a', lease, timings });
      model.feed({ type: 'contribution-refused', worker: 'ghost', lease, message: '' });
      expect(model.offer('ghost', lease)).toMatchObject({
        type: 'refuse-contribution',
        code: 'LEASE_EXPIRED',
      });
    }
    model.feed({ type: 'step-committed', version: 7 });
    model.feed({ type: 'run-opened', version: 3, evaluated: false });
    expect(model.coordinator.view()).toMatchObject({ version: 0, phase: 'stepping' });
  });
});

describe('leases', () => {
  it('a late copy from the first holder is told that its lease has ended', () => {
    const model = new Model().join('a').open();
    const first = model.leaseOf('a');
    model.now += 501;
    model.feed({ type: 'tick' });
    expect(model.leaseOf('a')).toBeGreaterThan(first);
    expect(model.offer('a', first)).toMatchObject({ code: 'LEASE_EXPIRED' });
  });

  it('progress renews a lease, but not for ever', () => {
    const model = new Model().join('a').open();
    const first = model.leaseOf('a');
    const opened = model.now;
    for (; model.live.has(first) && model.now < 10_000; model.now += 200) {
      model.feed({ type: 'task-progress', worker: 'a', lease: first });
      model.feed({ type: 'tick' });
    }
    expect(model.now - opened).toBeGreaterThanOrEqual(base.lease.maximumMilliseconds);
    expect(model.now - opened).toBeLessThan(base.lease.maximumMilliseconds + 500);
  });

  it('a repeat of a counted contribution is a duplicate; so is one while it is being taken in', () => {
    const model = new Model({ globalBatch: 2 }).join('a', 'b').open();
    const lease = model.leaseOf('a');
    expect(model.offer('a', lease)).toMatchObject({ type: 'accept-contribution' });
    expect(model.offer('a', lease)).toMatchObject({ code: 'DUPLICATE' });
    model.report(lease, true);
    expect(model.offer('a', lease)).toMatchObject({ code: 'DUPLICATE' });
  });

  it('a contribution that is being taken in outlives its lease and its worker', () => {
    const model = new Model({ globalBatch: 2, evaluateEvery: 0 }).join('a', 'b').open();
    const lease = model.leaseOf('a');
    model.offer('a', lease);
    model.feed({ type: 'worker-left', worker: 'a' });
    model.now += 5000;
    model.feed({ type: 'tick' });
    expect(model.live.has(lease)).toBe(true);
    model.report(lease, true);
    expect(model.counted.size).toBe(1);
  });
});

describe('scripts from the field', () => {
  it('disco 1221: A submits and leaves, B and C submit, D is still at work: D counts', () => {
    const model = new Model({ globalBatch: 8, evaluateEvery: 0 }).join('a', 'b', 'c', 'd').open();
    for (const worker of ['a', 'b', 'c']) {
      const lease = model.leaseOf(worker);
      model.offer(worker, lease);
      model.report(lease, true);
      if (worker === 'a') model.feed({ type: 'worker-left', worker });
    }
    expect(model.committing).toBe(false);
    const last = model.leaseOf('d');
    expect(model.offer('d', last)).toMatchObject({ type: 'accept-contribution' });
    model.report(last, true);
    expect(model.committing).toBe(true);
  });

  it('nousnet 21: a worker that holds 2 of 8 is dropped, and the step still has 8', () => {
    const model = new Model({ evaluateEvery: 0, batchPolicy: 'equal' }).join('a', 'b', 'c', 'd').open();
    const lost = model.leaseOf('d');
    expect(model.live.get(lost)?.task.samples).toEqual({ start: 6, end: 8 });
    model.live.delete(lost);
    model.feed({ type: 'worker-left', worker: 'd' });
    for (let i = 0; i < 2; i++) {
      for (const worker of ['a', 'b', 'c']) {
        const held = [...model.live].find(([, live]) => live.worker === worker);
        if (!held) continue;
        model.offer(worker, held[0]);
        model.report(held[0], true);
      }
    }
    expect(model.committing).toBe(true);
    expect(model.coordinator.view().requeued).toBe(1);
  });
});

describe('failing workers', () => {
  it('out of memory: half the pass size, the same samples, the same worker; at one sample it is set aside in words', () => {
    const model = new Model({ globalBatch: 8, evaluateEvery: 0 }).join('a').open();
    const passSizes: number[] = [];
    let samples;
    for (let i = 0; i < 3; i++) {
      const lease = model.leaseOf('a');
      const task = model.live.get(lease)?.task as LeasedTask;
      samples ??= task.samples;
      expect(task.samples).toEqual(samples);
      passSizes.push(task.passSize);
      model.live.delete(lease);
      model.feed({
        type: 'task-failed',
        worker: 'a',
        lease,
        reason: 'out-of-memory',
        message: 'GPU memory is full',
      });
    }
    expect(passSizes).toEqual([4, 2, 1]);
    expect(model.coordinator.view().workers[0]).toMatchObject({
      state: 'set-aside',
      reason: 'GPU memory is full',
    });
    expect(model.notices).toContain('a:set-aside');
  });

  it('a set-aside worker comes back by itself, and waits longer each time', () => {
    const model = new Model({ evaluateEvery: 0 }).join('a').open();
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3; i++) {
        const lease = model.leaseOf('a');
        model.live.delete(lease);
        model.feed({ type: 'task-failed', worker: 'a', lease, reason: 'internal', message: 'x' });
      }
      const began = model.now;
      while (model.coordinator.view().workers[0]?.state !== 'working') {
        model.now = model.coordinator.nextTick() as number;
        model.feed({ type: 'tick' });
      }
      waits.push(model.now - began);
    }
    expect(waits).toEqual([300, 600, 1200]);
  });

  it('the lost samples of a step go to who is idle, at once', () => {
    const model = new Model({ globalBatch: 4, evaluateEvery: 0, batchPolicy: 'equal' }).join('a', 'b').open();
    const done = model.leaseOf('a');
    model.offer('a', done);
    model.report(done, true);
    const lost = model.leaseOf('b');
    model.live.delete(lost);
    model.feed({ type: 'worker-left', worker: 'b' });
    expect(model.live.get(model.leaseOf('a'))?.task.samples).toEqual({ start: 2, end: 4 });
  });
});

describe('the flow of a run', () => {
  it('waits a moment for workers to gather, and shares the batch among them', () => {
    const model = new Model({ globalBatch: 9, evaluateEvery: 0 });
    model.feed({ type: 'run-opened', version: 0, evaluated: false });
    model.join('a');
    model.now = 20;
    model.join('b', 'c');
    expect(model.live.size).toBe(0);
    expect(model.coordinator.view().phase).toBe('gathering');
    model.now = model.coordinator.nextTick() as number;
    model.feed({ type: 'tick' });
    expect([...model.live.values()].map((live) => live.task.samples)).toEqual([
      { start: 0, end: 3 },
      { start: 3, end: 6 },
      { start: 6, end: 9 },
    ]);
  });

  it('a paused run takes in what is under way, commits, and opens nothing new until it is resumed', () => {
    const model = new Model({ globalBatch: 2, evaluateEvery: 0 }).join('a').open();
    model.feed({ type: 'run-paused' });
    const lease = model.leaseOf('a');
    model.offer('a', lease);
    model.report(lease, true);
    expect(model.committing).toBe(true);
    model.commit();
    expect(model.live.size).toBe(0);
    model.feed({ type: 'run-resumed' });
    expect(model.live.get(model.leaseOf('a'))?.task.version).toBe(1);
  });

  it('a newcomer in mid-step waits for the next, and is told so', () => {
    const model = new Model({ globalBatch: 2, evaluateEvery: 0 }).join('a').open();
    model.join('late');
    expect(model.notices).toContain('late:waiting-for-step');
    const lease = model.leaseOf('a');
    model.offer('a', lease);
    model.report(lease, true);
    model.commit();
    expect(model.leaseOf('late')).toBeGreaterThan(lease);
  });

  it('resumes at the last version: only a missing evaluation is left to do', () => {
    for (const [evaluated, kinds] of [
      [false, ['evaluate']],
      [true, []],
    ] as const) {
      const model = new Model();
      model.version = 4;
      model.join('a');
      model.feed({ type: 'run-opened', version: 4, evaluated });
      model.now += 60;
      model.feed({ type: 'tick' });
      expect([...model.live.values()].map((live) => live.task.kind)).toEqual(kinds);
      expect(model.complete).toBe(evaluated);
    }
  });

  it('remembers the speed of a worker that comes back', () => {
    const model = new Model({ globalBatch: 8, evaluateEvery: 0 }).join('a').open();
    const lease = model.leaseOf('a');
    model.offer('a', lease);
    model.report(lease, true);
    model.commit();
    model.join('a');
    expect(model.coordinator.view().workers[0]?.samplesPerSecond).toBeCloseTo(800);
  });
});
