/** The coordinator by example: the flow of a run, leases, and scripts from other projects' bug reports. */
import { describe, expect, it } from 'vitest';
import { base, Model, quick } from './testing/model.ts';

const training = { evaluateEvery: 0 };

describe('the flow of a run', () => {
  it('waits a moment for workers to gather, and shares the batch among them', () => {
    const model = new Model({ ...training, globalBatch: 9 });
    model.feed({ type: 'run-opened', version: 0, evaluated: false });
    model.join('a');
    model.now = 20;
    model.join('b', 'c');
    expect(model.live.size).toBe(0);
    expect(model.coordinator.view().phase).toBe('gathering');
    expect(model.coordinator.nextTick()).toBe(base.gatherMilliseconds);
    model.tick();
    expect([...model.live.values()].map((live) => live.task.samples)).toEqual([
      { start: 0, end: 3 },
      { start: 3, end: 6 },
      { start: 6, end: 9 },
    ]);
    expect(model.coordinator.view()).toMatchObject({
      phase: 'stepping',
      samples: { waiting: 0, leased: 9, accepted: 0 },
    });
  });

  it('a paused run takes in what is under way, commits, and opens nothing new until it is resumed', () => {
    const model = new Model({ ...training, globalBatch: 2 }).join('a').open();
    model.feed({ type: 'run-paused' });
    model.succeed('a');
    expect(model.committing).toBe(true);
    model.commit();
    model.join('b');
    expect(model.live.size).toBe(0);
    expect(model.coordinator.view().phase).toBe('paused');
    expect(model.notices).toEqual(expect.arrayContaining(['a:run-paused', 'b:run-paused']));
    model.feed({ type: 'run-resumed' });
    expect(model.leaseOf('a').task.version).toBe(1);
  });

  it('a paused worker finishes its task and gets no other until it resumes', () => {
    const model = new Model({ ...training, globalBatch: 2 }).join('a', 'b').open();
    model.feed({ type: 'worker-paused', worker: 'a', reason: 'on battery' });
    model.succeed('a');
    model.succeed('b');
    model.commit();
    expect(model.leaseOf('b').task.samples).toEqual({ start: 0, end: 2 });
    expect(model.coordinator.view().workers[0]).toMatchObject({ state: 'paused', reason: 'on battery' });
    model.succeed('b');
    model.feed({ type: 'worker-resumed', worker: 'a' });
    model.commit();
    expect(model.leaseOf('a').task.samples).toEqual({ start: 0, end: 1 });
  });

  it('a newcomer in mid-step waits for the next; a worker that the plan gives nothing is told so', () => {
    const model = new Model({ ...training, globalBatch: 1 }).join('a').open();
    model.join('late');
    expect(model.notices).toEqual(['late:waiting-for-step']);
    model.succeed('a');
    model.commit();
    expect(model.leaseOf('a').task.version).toBe(1);
    expect(model.notices).toContain('late:no-share');
  });

  it('a newcomer in mid-step takes what waits', () => {
    const model = new Model({ ...training, globalBatch: 4 }).join('a', 'b').open();
    const { samples } = model.leaseOf('b').task;
    model.leave('b');
    model.join('late');
    expect(model.leaseOf('late').task.samples).toEqual(samples);
  });

  it('resumes at the last version: only a missing evaluation is left to do', () => {
    for (const evaluated of [false, true]) {
      const model = new Model();
      model.version = base.maxSteps;
      model.join('a');
      model.feed({ type: 'run-opened', version: base.maxSteps, evaluated });
      model.now += base.gatherMilliseconds;
      model.feed({ type: 'tick' });
      expect([...model.live.values()].map((live) => live.task.kind)).toEqual(evaluated ? [] : ['evaluate']);
      expect(model.complete).toBe(evaluated);
    }
  });

  it('remembers the speed of a worker that comes back', () => {
    const model = new Model(training).join('a').open();
    model.succeed('a');
    model.commit();
    model.join('a');
    expect(model.coordinator.view().workers[0]?.samplesPerSecond).toBe(800);
  });
});

describe('evaluation', () => {
  /** Two workers at version 2, which is evaluated; `fast` computes four times as fast. */
  const atEvaluation = (): Model => {
    const model = new Model({ globalBatch: 10, evaluationSamples: 10, maxSteps: 8 })
      .join('fast', 'slow')
      .open();
    for (let step = 0; step < 2; step++) {
      for (const [worker, perSample] of [
        ['fast', 10],
        ['slow', 40],
      ] as const) {
        const { start, end } = model.leaseOf(worker).task.samples;
        model.succeed(worker, { ...quick, computeMilliseconds: perSample * (end - start) });
      }
      model.commit();
    }
    return model;
  };

  it('fills the wait: who is done with training takes its part, in proportion to its speed', () => {
    const model = atEvaluation();
    expect(model.leaseOf('fast').task).toMatchObject({ kind: 'train', samples: { start: 0, end: 8 } });
    model.succeed('fast');
    expect(model.leaseOf('fast').task).toMatchObject({ kind: 'evaluate', samples: { start: 0, end: 8 } });
    model.succeed('slow');
    expect(model.leaseOf('slow').task).toMatchObject({ kind: 'evaluate', samples: { start: 8, end: 10 } });
  });

  it('belongs to the step: it commits when both are in', () => {
    const model = atEvaluation();
    model.succeed('fast');
    model.succeed('fast');
    model.succeed('slow');
    expect(model.committing).toBe(false);
    expect(model.coordinator.view().samples).toEqual({ waiting: 0, leased: 2, accepted: 18 });
    // The slow one is still training when the fast one has done its part: it takes the rest as well.
    model.succeed('fast');
    expect(model.evaluatedVersions).toEqual([2]);
    expect(model.committing).toBe(true);
    expect(model.coordinator.view().samples).toEqual({ waiting: 0, leased: 0, accepted: 20 });
  });

  it('gives way to training samples that come back', () => {
    const model = atEvaluation();
    model.succeed('fast');
    model.leave('slow');
    model.succeed('fast');
    expect(model.leaseOf('fast').task).toMatchObject({ kind: 'train', samples: { start: 8, end: 10 } });
  });
});

describe('leases', () => {
  it('a late copy from the first holder is told that its lease has ended', () => {
    const model = new Model({ ...training, globalBatch: 1 }).join('a', 'b').open();
    const first = model.leaseOf('a').lease;
    model.tick();
    expect(model.leaseOf('b').lease).toBeGreaterThan(first);
    expect(model.offer('a', first)).toMatchObject({ code: 'LEASE_EXPIRED' });
    expect(model.offer('a', model.leaseOf('b').lease)).toMatchObject({ code: 'LEASE_EXPIRED' });
  });

  it('progress renews a lease, but not for ever', () => {
    const model = new Model(training).join('a').open();
    const { lease, leasedAt } = model.leaseOf('a');
    while (model.live.has(lease) && model.now < 10_000) {
      model.now += 100;
      model.feed({ type: 'task-progress', worker: 'a', lease });
    }
    // Three times the lease of a worker whose speed is not known.
    expect(model.now - leasedAt).toBe(3 * base.lease.unknownMilliseconds);
  });

  it('lasts a multiple of the predicted time, within bounds', () => {
    const after = (computeMilliseconds: number): number => {
      const model = new Model(training).join('a').open();
      expect(model.leaseOf('a').task.leaseMilliseconds).toBe(base.lease.unknownMilliseconds);
      model.succeed('a', { ...quick, computeMilliseconds });
      model.commit();
      return model.leaseOf('a').task.leaseMilliseconds;
    };
    expect(after(8)).toBe(base.lease.minimumMilliseconds);
    expect(after(80)).toBe(base.lease.factor * (80 + 2));
    expect(after(8000)).toBe(base.lease.maximumMilliseconds);
  });

  it('a repeat of a counted contribution is a duplicate; so is one while it is being taken in', () => {
    const model = new Model({ ...training, globalBatch: 2 }).join('a', 'b').open();
    const { lease } = model.leaseOf('a');
    expect(model.offer('a', lease)).toMatchObject({ type: 'accept-contribution' });
    expect(model.offer('a', lease)).toMatchObject({ code: 'DUPLICATE' });
    model.report(lease, true);
    expect(model.offer('a', lease)).toMatchObject({ code: 'DUPLICATE' });
  });

  it('a contribution that is being taken in outlives its lease and its worker, and is not leased again', () => {
    const model = new Model({ ...training, globalBatch: 2 }).join('a', 'b').open();
    const { lease } = model.leaseOf('a');
    model.offer('a', lease);
    model.leave('a');
    model.succeed('b');
    model.now += 10 * base.lease.maximumMilliseconds;
    model.feed({ type: 'tick' });
    expect([...model.live.keys()]).toEqual([lease]);
    model.report(lease, true);
    expect(model.committing).toBe(true);
  });

  it('a contribution refused after its worker has left goes to someone else', () => {
    const model = new Model({ ...training, globalBatch: 2 }).join('a', 'b').open();
    const { lease, task } = model.leaseOf('a');
    model.offer('a', lease);
    model.leave('a');
    model.succeed('b');
    model.report(lease, false);
    expect(model.leaseOf('b').task.samples).toEqual(task.samples);
    expect(model.coordinator.view()).toMatchObject({ requeued: 1, refused: 1 });
  });
});

describe('measured time', () => {
  it('counts what a worker does not account for, and ignores cold rounds', () => {
    const model = new Model(training).join('a').open();
    model.now += 100;
    model.succeed('a', { ...quick, cold: true });
    model.commit();
    expect(model.coordinator.view().workers[0]?.samplesPerSecond).toBeNull();
    model.now += 100;
    model.succeed('a', { ...quick, computeMilliseconds: 16 });
    expect(model.coordinator.view().workers[0]).toMatchObject({
      samplesPerSecond: 500,
      transferMilliseconds: 84,
      stepMilliseconds: 100,
    });
  });
});

describe('scripts from the field', () => {
  it('B31 (disco 1221): A submits and leaves, B and C submit, D is still at work: D counts', () => {
    const model = new Model(training).join('a', 'b', 'c', 'd').open();
    for (const worker of ['a', 'b', 'c']) {
      model.succeed(worker);
      if (worker === 'a') model.leave(worker);
    }
    expect(model.committing).toBe(false);
    model.succeed('d');
    expect(model.committing).toBe(true);
  });

  it('B35 (nousnet 21): a worker that holds 2 of 8 is dropped, and the step still has 8', () => {
    const model = new Model({ ...training, batchPolicy: 'equal' }).join('a', 'b', 'c', 'd').open();
    expect(model.leaseOf('d').task.samples).toEqual({ start: 6, end: 8 });
    model.leave('d');
    for (const worker of ['a', 'b', 'c']) model.succeed(worker);
    expect(model.committing).toBe(false);
    model.succeed('a');
    expect(model.committing).toBe(true);
    expect(model.counted.size).toBe(8);
    expect(model.coordinator.view().requeued).toBe(1);
  });

  it('B43 (iota 195): lost samples go to who is idle, at once, and neighbours become one task again', () => {
    const model = new Model({ ...training, batchPolicy: 'equal' }).join('a', 'b', 'c', 'd').open();
    model.leave('b');
    model.leave('c');
    model.succeed('a');
    expect(model.leaseOf('a').task.samples).toEqual({ start: 2, end: 6 });
  });

  it('scattered samples that return together all go out, though one worker alone would be faster', () => {
    const model = new Model({ ...training, batchPolicy: 'equal', maxSteps: 2 })
      .join('a', 'b', 'c', 'd')
      .open();
    for (const worker of ['a', 'b', 'c']) model.succeed(worker);
    model.succeed('d', { ...quick, computeMilliseconds: 400 });
    model.commit();
    model.succeed('b');
    model.succeed('d');
    model.tick();
    expect([model.stateOf('a'), model.stateOf('c')]).toEqual(['set-aside', 'set-aside']);
    expect(model.leaseOf('b').task.samples).toEqual({ start: 0, end: 2 });
    expect(model.leaseOf('d').task.samples).toEqual({ start: 4, end: 6 });
  });

  it('lost samples go to another than the one that lost them, when there is one', () => {
    const model = new Model({ ...training, globalBatch: 3 }).join('a', 'b', 'c').open();
    model.succeed('c');
    const { samples } = model.leaseOf('b').task;
    model.fail('b', 'download');
    expect(model.leaseOf('c').task.samples).toEqual(samples);
    expect(model.stateOf('b')).toBe('idle');
  });
});
