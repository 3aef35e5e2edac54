import { expect, test } from 'vitest';
import { backoffDelay, reconnectBackoff } from './backoff.ts';

test('waits double to the bound and are spread over their upper half', () => {
  const shortest = [0, 1, 2, 3, 4, 5, 6, 1000].map((attempt) =>
    backoffDelay(attempt, reconnectBackoff, () => 0),
  );
  expect(shortest).toEqual([500, 1000, 2000, 4000, 8000, 15_000, 15_000, 15_000]);
  expect(backoffDelay(1000, reconnectBackoff, () => 0.999)).toBeCloseTo(29_985, 6);
});
