/** The coordinator against drivers and workers that drop, delay, repeat and lie: exactly once, leases, liveness. */
import { type FailureReason, Random } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Model, quick } from './testing/model.ts';
import { type Behaviour, misdeeds, Swarm } from './testing/swarm.ts';

const reasons: FailureReason[] = [
  'out-of-memory',
  'device-lost',
  'gpu-error',
  'non-finite',
  'download',
  'bad-data',
  'cancelled',
  'internal',
  'shader-compilation',
];
const names = ['a', 'b', 'c', 'd', 'e'];

/** A driver that feeds anything that could happen, in any order. */
class RandomDriver {
  readonly model: Model;
  readonly #random: Random;
  readonly #past: { worker: string; lease: number }[] = [];

  constructor(model: Model, random: Random) {
    this.model = model;
    this.#random = random;
  }

  act(): void {
    const { model } = this;
    const random = this.#random;
    const worker = this.#pick(names) as string;
    const lease = this.#pick([...model.live.keys()]);
    const live = lease === undefined ? undefined : model.live.get(lease);
    if (lease !== undefined && live) this.#past.push({ worker: live.worker, lease });
    switch (random.below(15)) {
      case 0:
        model.join(worker);
        return;
      case 1:
        model.leave(worker);
        return;
      case 2:
      case 3:
      case 4:
        if (lease !== undefined && live) model.offer(live.worker, lease);
        return;
      case 5:
      case 6:
      case 7:
        if (lease !== undefined) model.report(lease, random.uniform() < 0.85);
        return;
      case 8: {
        const old = this.#pick(this.#past);
        if (old) model.offer(random.uniform() < 0.8 ? old.worker : worker, old.lease);
        return;
      }
      case 9:
        if (lease === undefined || !live) return;
        if (!live.takenIn) model.live.delete(lease);
        model.feed({
          type: 'task-failed',
          worker: live.worker,
          lease,
          reason: this.#pick(reasons) as FailureReason,
          message: '',
        });
        return;
      case 10:
        model.now += random.below(400);
        model.feed({ type: 'tick' });
        return;
      case 11:
        model.commit();
        return;
      case 12:
        model.feed(random.uniform() < 0.5 ? { type: 'run-paused' } : { type: 'run-resumed' });
        return;
      case 13:
        model.feed(
          random.uniform() < 0.5
            ? { type: 'worker-paused', worker, reason: 'battery' }
            : { type: 'worker-resumed', worker },
        );
        return;
      case 14:
        if (lease !== undefined) model.feed({ type: 'task-progress', worker, lease });
        return;
    }
  }

  /** From here on all is well: one able worker, a store that reports. */
  rescue(): void {
    const { model } = this;
    model.feed({ type: 'run-resumed' });
    for (const worker of names) model.leave(worker);
    model.join('rescuer');
    for (let rounds = 0; !model.complete; rounds++) {
      if (rounds > 200) throw new Error(`no progress: ${JSON.stringify(model.coordinator.view())}`);
      for (const [lease, live] of [...model.live]) {
        if (!live.takenIn) model.offer(live.worker, lease);
        model.report(lease, true);
      }
      model.commit();
      model.tick();
    }
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[this.#random.below(Math.max(1, list.length))];
  }
}

describe('random schedules', () => {
  it('count every sample exactly once, and finish once all is well', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 9 }),
        fc.constantFrom('proportional' as const, 'equal' as const),
        (seed, globalBatch, evaluationSamples, batchPolicy) => {
          const evaluateEvery = evaluationSamples > 0 ? 2 : 0;
          const model = new Model({ globalBatch, evaluationSamples, batchPolicy, evaluateEvery });
          const driver = new RandomDriver(model, new Random(seed));
          model.feed({ type: 'run-opened', version: 0, evaluated: false });
          for (let i = 0; i < 150 && !model.complete; i++) driver.act();
          driver.rescue();
          expect(model.version).toBe(4);
          expect(model.evaluatedVersions).toEqual(evaluationSamples > 0 ? [2, 4] : []);
        },
      ),
      { numRuns: 1200 },
    );
  });

  it('finish in bounded time with one able worker among any bad ones', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.array(fc.constantFrom(...misdeeds), { maxLength: 6 }),
        fc.nat(6),
        (seed, bad, place) => {
          const all: Behaviour[] = [...bad];
          all.splice(place, 0, 'able');
          const behaviours = new Map(all.map((behaviour, index) => [`${index}-${behaviour}`, behaviour]));
          const model = new Model({ globalBatch: 12, evaluationSamples: 7 });
          // Alone, the able worker needs 1.3 s. Each bad one may spoil a few leases of at most 2 s.
          new Swarm(model, behaviours, new Random(seed)).run(2000 + 25_000 * bad.length);
          expect(model.evaluatedVersions).toEqual([2, 4]);
        },
      ),
      { numRuns: 300 },
    );
  });
});

it('events about workers and leases that never were change nothing', () => {
  const model = new Model().join('a').open();
  const before = model.coordinator.view();
  for (const lease of [-1, 0, NaN, Infinity, 999, 1e18]) {
    model.feed({ type: 'task-progress', worker: 'a', lease });
    model.feed({ type: 'task-failed', worker: 'ghost', lease, reason: 'internal', message: '' });
    model.feed({ type: 'contribution-accepted', worker: 'a', lease, timings: quick });
    model.feed({ type: 'contribution-refused', worker: 'ghost', lease, message: '' });
    expect(model.offer('ghost', lease)).toMatchObject({ code: 'LEASE_EXPIRED' });
  }
  model.feed({ type: 'worker-paused', worker: 'ghost', reason: '' });
  model.feed({ type: 'worker-resumed', worker: 'ghost' });
  model.feed({ type: 'worker-left', worker: 'ghost' });
  model.feed({ type: 'step-committed', version: 7 });
  model.feed({ type: 'run-opened', version: 3, evaluated: false });
  expect(model.coordinator.view()).toEqual(before);
});

describe('memory', () => {
  it('of counted leases goes back 1024 of them', () => {
    const model = new Model({ globalBatch: 1, evaluateEvery: 0, maxSteps: 3000 }).join('a').open();
    const leases: number[] = [];
    for (let step = 0; step < 1100; step++) {
      leases.push(model.leaseOf('a').lease);
      model.succeed('a');
      model.commit();
    }
    expect(model.offer('a', leases.at(-1024) as number)).toMatchObject({ code: 'DUPLICATE' });
    expect(model.offer('a', leases.at(-1025) as number)).toMatchObject({ code: 'LEASE_EXPIRED' });
  });

  it('of workers that left goes back 256 of them', () => {
    const model = new Model({ globalBatch: 8, evaluateEvery: 0, maxSteps: 9 }).join('early').open();
    model.succeed('early', { ...quick, computeMilliseconds: 16 });
    model.commit();
    const samplesPerSecond = (): number | null | undefined =>
      model.coordinator.view().workers.find((view) => view.worker === 'early')?.samplesPerSecond;
    const others = (count: number): void => {
      model.leave('early');
      for (let i = 0; i < count; i++) {
        model.join(`passer-${i}`);
        model.leave(`passer-${i}`);
      }
      model.join('early');
    };
    others(255);
    expect(samplesPerSecond()).toBe(500);
    others(256);
    expect(samplesPerSecond()).toBeNull();
  });
});
