/** The coordinator by example: leases, failures, pauses, and scripts from other projects' bug reports. */
import { describe, expect, it } from 'vitest';
import { base, Model, timings } from './testing/model.ts';
import type { LeasedTask } from './types.ts';

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
