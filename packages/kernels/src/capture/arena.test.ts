import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planArena, type Lifetime } from './arena.ts';

const lifetime = fc
  .record({ bytes: fc.integer({ min: 1, max: 1000 }), first: fc.nat(30), length: fc.nat(10) })
  .map(({ bytes, first, length }): Lifetime => ({ bytes, first, last: first + length }));

/** The most that is alive at one time: no plan can take less. */
function peak(lifetimes: readonly Lifetime[]): number {
  const moments = Array.from({ length: 60 }, (_, at) =>
    lifetimes
      .filter(({ first, last }) => first <= at && at <= last)
      .reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return Math.max(0, ...moments);
}

describe('the arena of a step', () => {
  it('never gives one slot to two buffers that are alive together, nor a buffer to a smaller slot', () => {
    fc.assert(
      fc.property(fc.array(lifetime, { maxLength: 40 }), (lifetimes) => {
        const { slots, slotOf } = planArena(lifetimes);
        lifetimes.forEach((a, i) => {
          expect(slots[slotOf[i] as number]).toBeGreaterThanOrEqual(a.bytes);
          lifetimes.slice(0, i).forEach((b, j) => {
            if (slotOf[i] === slotOf[j]) expect(a.last < b.first || b.last < a.first).toBe(true);
          });
        });
        const total = slots.reduce((sum, bytes) => sum + bytes, 0);
        expect(total).toBeGreaterThanOrEqual(peak(lifetimes));
        expect(total).toBeLessThanOrEqual(lifetimes.reduce((sum, { bytes }) => sum + bytes, 0));
      }),
    );
  });

  it('takes no more than what is alive at one time where buffers are of one size', () => {
    fc.assert(
      fc.property(fc.array(lifetime, { maxLength: 40 }), (lifetimes) => {
        const equal = lifetimes.map((each) => ({ ...each, bytes: 64 }));
        const { slots } = planArena([...equal].sort((a, b) => a.first - b.first));
        expect(slots.length * 64).toBe(peak(equal));
      }),
    );
  });
});
