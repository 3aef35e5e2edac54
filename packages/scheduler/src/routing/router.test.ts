import { Random } from '@tabweave/shared';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RouterKind } from './router.ts';
import { createRouter } from './router.ts';

const kinds: RouterKind[] = ['weighted-round-robin', 'earliest-finish', 'stochastic', 'fixed'];
const stages = 3;
const workers = Array.from({ length: 6 }, (_, index) => `w${index}`);

const command = fc.oneof(
  fc.record({
    type: fc.constant('add' as const),
    worker: fc.nat(5),
    from: fc.nat(2),
    length: fc.integer({ min: 1, max: 3 }),
    weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
  }),
  fc.record({ type: fc.constant('remove' as const), worker: fc.nat(5) }),
  fc.record({ type: fc.constant('ban' as const), worker: fc.nat(5), until: fc.nat(2000) }),
  fc.record({
    type: fc.constant('observe' as const),
    worker: fc.nat(5),
    milliseconds: fc.integer({ min: 1, max: 5000 }),
  }),
  fc.record({ type: fc.constant('pick' as const), stage: fc.nat(2), mask: fc.nat(63), wait: fc.nat(300) }),
);

describe.each(kinds)('router %s', (kind) => {
  it('picks a worker that holds the stage and may be picked, wherever there is one', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 120 }), (commands) => {
        const pipelines = [workers.slice(0, 3), workers.slice(3)];
        const router = createRouter(kind, { pipelines, random: new Random(1) });
        const held = new Map<string, { from: number; to: number; bannedUntil: number }>();
        let now = 0;
        for (const given of commands) {
          if (given.type === 'pick') {
            now += given.wait;
            const may = (worker: string): boolean => (given.mask >> Number(worker.slice(1))) % 2 === 1;
            const picked = router.pick(given.stage, { now, allowed: may });
            const able = [...held].filter(
              ([worker, { from, to, bannedUntil }]) =>
                from <= given.stage && given.stage < to && bannedUntil <= now && may(worker),
            );
            const possible =
              kind === 'fixed' ? able.filter(([worker]) => worker === pipelines[0]![given.stage]) : able;
            if (possible.length === 0) expect(picked).toBeNull();
            else expect(possible.map(([worker]) => worker)).toContain(picked);
            continue;
          }
          const worker = workers[given.worker]!;
          if (given.type === 'add') {
            const to = Math.min(stages, given.from + given.length);
            router.add(worker, { from: given.from, to, weight: given.weight });
            held.set(worker, { from: given.from, to, bannedUntil: held.get(worker)?.bannedUntil ?? 0 });
          } else if (given.type === 'remove') {
            router.remove(worker);
            held.delete(worker);
          } else if (given.type === 'ban') {
            const state = held.get(worker);
            if (state === undefined) continue;
            router.ban(worker, given.until);
            state.bannedUntil = given.until;
          } else router.observe(worker, given.milliseconds, { now });
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe('fixed', () => {
  it('takes the pipelines in turn', () => {
    const router = createRouter('fixed', {
      pipelines: [
        ['a', 'b'],
        ['c', 'd'],
      ],
    });
    for (const [index, worker] of ['a', 'b', 'c', 'd'].entries())
      router.add(worker, { from: index % 2, to: (index % 2) + 1, weight: 1 });
    expect([0, 1, 2].map((microBatch) => router.pick(1, { microBatch }))).toEqual(['b', 'd', 'b']);
  });
});

it('says what a kind lacks', () => {
  expect(() => createRouter('fixed')).toThrow(/pipelines/);
  expect(() => createRouter('fixed', { pipelines: [] })).toThrow(/one pipeline/);
  expect(() => createRouter('stochastic')).toThrow(/random/);
});
