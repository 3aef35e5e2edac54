import { expect, test } from 'vitest';
import { describeSeries, logTicks, spreadIndices } from './series.ts';

const asStep = (x: number): string => `step ${x}`;
const asLoss = (y: number): string => y.toFixed(2);

test('the summary names latest, first and extremes, and passes over gaps', () => {
  const series = { label: 'Training', values: [4, null, 1.5, 2, null] };
  expect(describeSeries(series, [1, 2, 3, 4, 5], asStep, asLoss)).toBe(
    'Training: 2.00 at step 4; first 4.00, lowest 1.50, highest 4.00.',
  );
});

test('a series without values says so', () => {
  expect(describeSeries({ label: 'Validation', values: [null, Number.NaN] }, [1, 2], asStep, asLoss)).toBe(
    'Validation: no values yet.',
  );
});

test('thinning keeps both ends and never doubles a point', () => {
  expect(spreadIndices(3, 100)).toEqual([0, 1, 2]);
  const thinned = spreadIndices(1001, 100);
  expect(thinned).toHaveLength(100);
  expect(thinned[0]).toBe(0);
  expect(thinned.at(-1)).toBe(1000);
  expect(new Set(thinned).size).toBe(100);
});

test('logarithmic ticks are 1, 2, 5 over decades and finer within one', () => {
  expect(logTicks(0.05, 20)).toEqual(
    [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20].map((tick) => expect.closeTo(tick, 9)),
  );
  const narrow = logTicks(1.4, 3.2);
  expect(narrow.length).toBeGreaterThanOrEqual(3);
  expect(Math.min(...narrow)).toBeGreaterThanOrEqual(1.4);
  expect(Math.max(...narrow)).toBeLessThanOrEqual(3.2);
  expect(logTicks(0, 10)).toEqual([]);
});
