import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EarliestFinishRouter } from './earliest-finish.ts';

const events = fc.array(
  fc.record({ wait: fc.oneof(fc.constant(0), fc.nat(3000)), mask: fc.nat(255), masked: fc.boolean() }),
  { minLength: 1, maxLength: 80 },
);

describe('EarliestFinishRouter', () => {
  it('picks what trying every worker finds to finish first', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.2, max: 20, noNaN: true }), { minLength: 1, maxLength: 8 }),
        events,
        (weights, schedule) => {
          const router = new EarliestFinishRouter();
          const workers = weights.map((weight, index) => ({
            name: `w${index}`,
            time: 1000 / weight,
            freeAt: -Infinity,
          }));
          weights.forEach((weight, index) => router.add(`w${index}`, { from: 0, to: 1, weight }));
          let now = 0;
          for (const { wait, mask, masked } of schedule) {
            now += wait;
            const may = (name: string): boolean => !masked || (mask >> Number(name.slice(1))) % 2 === 1;
            const finish = (worker: { time: number; freeAt: number }): number =>
              Math.max(now, worker.freeAt) + worker.time;
            const candidates = workers.filter(({ name }) => may(name));
            const picked = router.pick(0, { now, allowed: may });
            if (candidates.length === 0) {
              expect(picked).toBeNull();
              continue;
            }
            const chosen = workers.find(({ name }) => name === picked)!;
            expect(may(chosen.name)).toBe(true);
            expect(finish(chosen)).toBeCloseTo(Math.min(...candidates.map(finish)), 6);
            chosen.freeAt = finish(chosen);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('goes by measured times, and by what is left after a task was done', () => {
    const router = new EarliestFinishRouter();
    router.add('a', { from: 0, to: 1, weight: 1 });
    router.add('b', { from: 0, to: 1, weight: 0.6 });
    expect(router.pick(0, { now: 0 })).toBe('a');
    router.observe('a', 5000, { now: 5000 });
    expect(router.pick(0, { now: 5000 })).toBe('b');
    router.observe('b', 100, { now: 5100 });
    expect(router.pick(0, { now: 5100 })).toBe('b');
  });

  it('counts work at one stage of a range at the others', () => {
    const router = new EarliestFinishRouter();
    router.add('wide', { from: 0, to: 2, weight: 1.1 });
    router.add('late', { from: 1, to: 2, weight: 1 });
    expect(router.pick(0)).toBe('wide');
    expect(router.pick(1)).toBe('late');
    expect(router.pick(1)).toBe('wide');
  });
});
