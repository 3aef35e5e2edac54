import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WeightedRoundRobinRouter } from './weighted-round-robin.ts';

const weights = fc.array(
  fc.oneof(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0.01, max: 50, noNaN: true })),
  {
    minLength: 1,
    maxLength: 40,
  },
);

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `w${index}`);
}

describe('WeightedRoundRobinRouter', () => {
  it('keeps every worker within one micro-batch of its share, after every pick', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 400 }), (given, picks) => {
        const router = new WeightedRoundRobinRouter();
        const workers = names(given.length);
        workers.forEach((worker, index) => router.add(worker, { from: 0, to: 1, weight: given[index]! }));
        const whole = given.reduce((sum, weight) => sum + weight, 0);
        const counts = new Map<string, number>();
        for (let pick = 1; pick <= picks; pick++) {
          const worker = router.pick(0)!;
          counts.set(worker, (counts.get(worker) ?? 0) + 1);
          workers.forEach((name, index) => {
            const share = (pick * given[index]!) / whole;
            expect(Math.abs((counts.get(name) ?? 0) - share)).toBeLessThanOrEqual(1 + 1e-6);
          });
        }
      }),
      { numRuns: 100 },
    );
  });

  it('does not give a worker of half the weight its share in one burst', () => {
    const router = new WeightedRoundRobinRouter();
    router.add('large', { from: 0, to: 1, weight: 50 });
    for (let index = 0; index < 50; index++) router.add(`w${index}`, { from: 0, to: 1, weight: 1 });
    const picks = Array.from({ length: 100 }, () => router.pick(0)!);
    for (let start = 0; start < 90; start += 10) {
      const large = picks.slice(start, start + 10).filter((worker) => worker === 'large').length;
      expect(large).toBeGreaterThanOrEqual(4);
      expect(large).toBeLessThanOrEqual(6);
    }
    expect(new Set(picks).size).toBe(51);
  });

  it('counts at every stage what enters a range at another', () => {
    // `wide` holds both stages; half of what passes enters it at stage 0, so that stage 1 has `late` for the rest.
    const router = new WeightedRoundRobinRouter();
    router.add('wide', { from: 0, to: 2, weight: 1 });
    router.add('early', { from: 0, to: 1, weight: 1 });
    router.add('late', { from: 1, to: 2, weight: 1 });
    const second: string[] = [];
    for (let m = 0; m < 100; m++) if (router.pick(0) === 'early') second.push(router.pick(1)!);
    expect(second).toHaveLength(50);
    expect(second.filter((worker) => worker === 'wide').length).toBeLessThanOrEqual(2);
  });

  it('starts a worker that joins late level with the others', () => {
    const router = new WeightedRoundRobinRouter();
    router.add('a', { from: 0, to: 1, weight: 1 });
    for (let m = 0; m < 100; m++) router.pick(0);
    router.add('b', { from: 0, to: 1, weight: 1 });
    const picks = Array.from({ length: 20 }, () => router.pick(0));
    expect(picks.filter((worker) => worker === 'b')).toHaveLength(10);
  });

  it('charges small micro-batches by their size', () => {
    const router = new WeightedRoundRobinRouter();
    router.add('a', { from: 0, to: 1, weight: 1 });
    router.add('b', { from: 0, to: 1, weight: 1 });
    let workOfA = 0;
    for (let m = 0; m < 300; m++) {
      const size = m % 3 === 0 ? 1 : 0.25;
      if (router.pick(0, { size }) === 'a') workOfA += size;
    }
    expect(workOfA).toBeGreaterThan(74);
    expect(workOfA).toBeLessThan(76);
  });

  it('refuses weights and stages that are none', () => {
    const router = new WeightedRoundRobinRouter();
    expect(() => router.add('a', { from: 0, to: 1, weight: 0 })).toThrow(/above 0/);
    expect(() => router.add('a', { from: 1, to: 1, weight: 1 })).toThrow(/\[1, 1\)/);
  });
});
