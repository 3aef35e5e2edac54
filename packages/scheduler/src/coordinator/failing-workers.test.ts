/** What is held against a worker, and for how long. */
import { describe, expect, it } from 'vitest';
import { base, Model, quick } from './testing/model.ts';

const training = { evaluateEvery: 0 };

describe('out of memory', () => {
  it('halves the pass size: the same samples, the same worker; at one sample it is set aside in words', () => {
    const model = new Model(training).join('a').open();
    const { samples } = model.leaseOf('a').task;
    const passSizes: number[] = [];
    for (let i = 0; i < 3; i++) {
      const { task } = model.leaseOf('a');
      expect(task.samples).toEqual(samples);
      passSizes.push(task.passSize);
      model.fail('a', 'out-of-memory', 'GPU memory is full');
    }
    expect(passSizes).toEqual([4, 2, 1]);
    expect(model.coordinator.view().workers[0]).toMatchObject({
      state: 'set-aside',
      reason: 'GPU memory is full',
    });
    expect(model.notices).toEqual(['a:set-aside']);
  });

  it('while the run or the worker is paused, leases nothing', () => {
    for (const pause of [
      { type: 'run-paused' },
      { type: 'worker-paused', worker: 'a', reason: 'asked to' },
    ] as const) {
      const model = new Model(training).join('a').open();
      model.feed(pause);
      model.fail('a', 'out-of-memory');
      expect(model.live.size).toBe(0);
      expect(model.coordinator.view()).toMatchObject({ requeued: 1, samples: { waiting: 8 } });
    }
  });
});

describe('setting aside', () => {
  it('ends by itself, lasts longer each time, and after it one failure is enough', () => {
    const model = new Model(training).join('a').open();
    const waits: number[] = [];
    for (const failures of [base.setAside.failures, 1, 1]) {
      for (let i = 0; i < failures; i++) {
        expect(model.stateOf('a')).toBe('working');
        model.fail('a', 'internal');
      }
      const began = model.now;
      expect(model.stateOf('a')).toBe('set-aside');
      while (model.stateOf('a') !== 'working') model.tick();
      waits.push(model.now - began);
    }
    expect(waits).toEqual([300, 600, 1200]);
  });

  it('when all are set aside, the first whose time ends carries the run on', () => {
    const model = new Model({ ...training, globalBatch: 2, maxSteps: 1 }).join('a', 'b').open();
    for (const worker of ['a', 'b']) {
      model.now += 100;
      while (model.stateOf(worker) === 'working') model.fail(worker, 'gpu-error');
    }
    expect(model.stateOf('a')).toBe('set-aside');
    while (model.stateOf('a') !== 'working') model.tick();
    expect(model.stateOf('b')).toBe('set-aside');
    model.succeed('a');
    expect(model.committing).toBe(true);
  });

  it('is at once for a worker of which nothing is heard until its lease ends', () => {
    const model = new Model({ ...training, globalBatch: 1 }).join('a', 'b').open();
    model.tick();
    expect(model.stateOf('a')).toBe('set-aside');
    expect(model.stateOf('b')).toBe('working');
  });

  it('outlasts a new connection: a device that is lost at each task does not come back clean', () => {
    const model = new Model(training).join('a').open();
    for (let i = 0; i < base.setAside.failures; i++) {
      if (model.stateOf('a') === 'idle') model.tick();
      model.fail('a', 'device-lost');
      expect(model.live.size, 'nothing is leased to a device that is lost').toBe(0);
      model.leave('a');
      model.join('a');
    }
    expect(model.stateOf('a')).toBe('set-aside');
    expect(model.coordinator.view().workers[0]?.failures).toBe(3);
  });

  it('comes of leaving in mid-task again and again, and of cancelling, though not so soon', () => {
    const model = new Model(training).join('a').open();
    for (let i = 0; i < 2 * base.setAside.failures; i++) {
      expect(model.stateOf('a')).toBe('working');
      model.join('a');
      if (model.stateOf('a') === 'idle') model.tick();
    }
    expect(model.stateOf('a')).toBe('set-aside');

    const other = new Model(training).join('b').open();
    for (let i = 0; i < 2 * base.setAside.failures; i++) other.fail('b', 'cancelled');
    expect(other.stateOf('b')).toBe('set-aside');
  });

  it('is not escaped by evaluations that are right', () => {
    const model = new Model({ evaluateEvery: 1, maxSteps: 9, globalBatch: 2, evaluationSamples: 40 })
      .join('good', 'poison')
      .open();
    for (let i = 0; i < 50 && model.stateOf('poison') !== 'set-aside'; i++) {
      const { lease, task } = model.leaseOf('poison');
      model.offer('poison', lease);
      model.report(lease, task.kind === 'evaluate');
      while (model.stateOf('good') === 'working') model.succeed('good');
      model.commit();
    }
    expect(model.coordinator.view().workers[1]).toMatchObject({
      state: 'set-aside',
      reason: 'norm out of bounds',
      refusedContributions: 3,
    });
  });
});

describe('slow workers', () => {
  it('alone, one whose tasks outlast their leases gets smaller ones until it is in time', () => {
    const model = new Model({ ...training, maxSteps: 1 }).join('slow').open();
    const millisecondsPerSample = 200;
    const sizes: number[] = [];
    while (!model.committing && model.now < 60_000) {
      if (model.stateOf('slow') !== 'working') {
        model.tick();
        continue;
      }
      const { lease, leasedAt, task } = model.leaseOf('slow');
      const size = task.samples.end - task.samples.start;
      sizes.push(size);
      const done = leasedAt + millisecondsPerSample * size;
      if (done < (model.coordinator.nextTick() ?? Infinity)) {
        model.now = done;
        model.offer('slow', lease);
        model.report(lease, true, { ...quick, computeMilliseconds: done - leasedAt });
      } else {
        model.tick();
      }
    }
    // A lease of unknown speed is 500 ms, so 8 and 4 samples are too many; then its speed is known.
    expect(sizes).toEqual([8, 4, 2, 4, 2]);
  });

  it('one that was heard of gets longer leases instead', () => {
    const model = new Model({ ...training, maxSteps: 1 }).join('slow').open();
    const lengths: number[] = [];
    for (let i = 0; i < 2; i++) {
      const { lease, task } = model.leaseOf('slow');
      lengths.push(task.leaseMilliseconds);
      while (model.live.has(lease)) {
        model.feed({ type: 'task-progress', worker: 'slow', lease });
        model.tick();
      }
    }
    expect(lengths).toEqual([500, 1000]);
  });

  it('no task is given that is predicted to take more than half the longest lease', () => {
    const model = new Model({ ...training, globalBatch: 8, maxSteps: 3 }).join('slow').open();
    model.succeed('slow', { ...quick, computeMilliseconds: 8 * 300 });
    model.commit();
    expect(model.leaseOf('slow').task.samples).toEqual({ start: 0, end: 3 });
    expect(model.coordinator.view().workers[0]?.microBatch).toBe(8);
  });
});

describe('a contribution that the store could not take in', () => {
  it('goes out again, and its worker is not to blame', () => {
    const model = new Model(training).join('a').open();
    for (let i = 0; i < 5; i++) {
      const { lease, task } = model.leaseOf('a');
      model.offer('a', lease);
      model.live.delete(lease);
      model.feed({ type: 'contribution-dropped', worker: 'a', lease });
      expect(model.leaseOf('a').task.samples).toEqual(task.samples);
    }
    expect(model.coordinator.view().workers[0]).toMatchObject({ failures: 0, refusedContributions: 0 });
  });
});
