import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { balancedSizes, equalSizes, type RoundCost } from './split.ts';

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const longest = (sizes: readonly number[], costs: readonly RoundCost[]): number =>
  Math.max(
    0,
    ...sizes.map((size, i) =>
      size === 0 ? 0 : (costs[i] as RoundCost).fixed + (costs[i] as RoundCost).perSample * size,
    ),
  );

/** The best longest round over all ways to cut `total`, by trying them all. */
function bruteForce(total: number, costs: readonly RoundCost[]): number {
  const best = (index: number, left: number): number => {
    if (index === costs.length) return left === 0 ? 0 : Infinity;
    let least = Infinity;
    for (let size = 0; size <= left; size++) {
      least = Math.min(
        least,
        Math.max(longest([size], [costs[index] as RoundCost]), best(index + 1, left - size)),
      );
    }
    return least;
  };
  return best(0, total);
}

const costs = fc.record({
  fixed: fc.double({ min: 0, max: 500, noNaN: true }),
  perSample: fc.double({ min: 0.5, max: 200, noNaN: true }),
});

describe('balancedSizes', () => {
  it('is as good as the best of all cuts, on small cases', () => {
    fc.assert(
      fc.property(
        fc.array(costs, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 9 }),
        (workers, total) => {
          const sizes = balancedSizes(total, workers);
          expect(sum(sizes)).toBe(total);
          expect(longest(sizes, workers)).toBeLessThanOrEqual(bruteForce(total, workers) * (1 + 1e-9) + 1e-9);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('sums exactly to the batch for any number of workers, fewer samples than workers included', () => {
    fc.assert(
      fc.property(
        fc.array(costs, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 0, max: 5000 }),
        (workers, total) => {
          const sizes = balancedSizes(total, workers);
          expect(sum(sizes)).toBe(total);
          expect(sizes.every((size) => Number.isInteger(size) && size >= 0)).toBe(true);
        },
      ),
    );
  });

  it('gives a fast worker behind a slow link less, and one that cannot pay its fixed time nothing', () => {
    const [near, far, hopeless] = balancedSizes(100, [
      { fixed: 10, perSample: 5 },
      { fixed: 150, perSample: 5 },
      { fixed: 5000, perSample: 1 },
    ]);
    expect(near).toBe(64);
    expect(far).toBe(36);
    expect(hopeless).toBe(0);
  });
});

describe('equalSizes', () => {
  it('differ by one at most', () => {
    expect(equalSizes(10, 4)).toEqual([3, 3, 2, 2]);
    expect(equalSizes(2, 4)).toEqual([1, 1, 0, 0]);
  });
});
