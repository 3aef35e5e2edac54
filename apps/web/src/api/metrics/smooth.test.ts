import { expect, test } from 'vitest';
import { smooth } from './smooth.ts';

test('the first value is itself: no pull towards zero', () => {
  expect(smooth([4, 4, 4], 0.9)).toEqual([4, 4, 4].map((value) => expect.closeTo(value, 12)));
});

test('follows the definition', () => {
  // Weights (1 - w) w^k over their sum: (0.5 * 0.5 * 1 + 0.5 * 3) / 0.75.
  expect(smooth([1, 3], 0.5)[1]).toBeCloseTo(1.75 / 0.75, 12);
});

test('gaps stay gaps and do not weigh', () => {
  expect(smooth([2, null, 2], 0.8)).toEqual([expect.closeTo(2, 12), null, expect.closeTo(2, 12)]);
});

test('weight 0 leaves the values as they are', () => {
  expect(smooth([5, null, 1], 0)).toEqual([5, null, 1]);
});
