import type { MetricPoint } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { lossSeries, xValues } from './chart-data.ts';

const points = [
  { step: 3, trainLoss: 4, validationLoss: null, at: '2026-01-01T00:00:10.000Z' },
  { step: 4, trainLoss: 2, validationLoss: 3.1, at: '2026-01-01T00:00:12.500Z' },
] as MetricPoint[];

test('time runs from the first point, in milliseconds', () => {
  expect(xValues(points, 'time')).toEqual([0, 2500]);
  expect(xValues(points, 'step')).toEqual([3, 4]);
  expect(xValues([], 'time')).toEqual([]);
});

test('smoothing keeps the raw line behind, and leaves validation as measured', () => {
  expect(lossSeries(points, 0).map(({ label }) => label)).toEqual(['Training', 'Validation']);
  const [raw, smoothed, validation] = lossSeries(points, 0.5);
  expect(raw).toMatchObject({ faint: true, values: [4, 2] });
  expect(smoothed?.values[1]).toBeCloseTo((0.25 * 4 + 0.5 * 2) / 0.75, 12);
  expect(validation?.values).toEqual([null, 3.1]);
});
