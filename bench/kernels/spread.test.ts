import { expect, test } from 'vitest';
import { quantile, speedup, spread } from './spread.ts';

test('a spread is the median with the 10th and 90th percentile', () => {
  const result = spread([50, 10, 40, 20, 30]);
  expect(result.median).toBe(30);
  expect(result.low).toBeCloseTo(14, 12);
  expect(result.high).toBeCloseTo(46, 12);
  expect(result.count).toBe(5);
});

test('a quantile lies between its neighbours in proportion', () => {
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([4, 1], 0.25)).toBe(1.75);
  expect(quantile([7], 0.9)).toBe(7);
});

test('a speedup is taken round by round, so that a slow round of both changes nothing', () => {
  expect(speedup([100, 300, 200], [10, 30, 20])).toEqual({ median: 10, low: 10, high: 10, count: 3 });
  expect(speedup([100, 100, 100], [10, 20, 50]).median).toBe(5);
});
