import type { MetricPoint } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { mergePoints, refetchAfter } from './merge.ts';

function point(step: number, validationLoss: number | null = null, trainLoss = 4 - step / 100): MetricPoint {
  return {
    step,
    trainLoss,
    validationLoss,
    learningRate: 1e-3,
    gradientNorm: 1,
    clipped: false,
    samples: 32,
    tokensPerSecond: 1000,
    stepMilliseconds: 100,
    workers: 2,
    requeued: 0,
    refused: 0,
    bytesUp: 0,
    at: '2026-01-01T00:00:00.000Z',
  };
}
const steps = (points: readonly MetricPoint[]): number[] => points.map(({ step }) => step);

test('new points follow the known ones', () => {
  expect(steps(mergePoints([point(1), point(2)], [point(3), point(4)]))).toEqual([1, 2, 3, 4]);
});

test('a point that comes again brings its validation loss and no double', () => {
  const merged = mergePoints([point(1), point(2), point(3)], [point(2, 3.5)]);
  expect(steps(merged)).toEqual([1, 2, 3]);
  expect(merged[1]?.validationLoss).toBe(3.5);
});

test('an older copy without the validation loss does not take it away', () => {
  expect(mergePoints([point(1, 3.9)], [point(1)])[0]?.validationLoss).toBe(3.9);
});

test('points out of order are put in order', () => {
  expect(steps(mergePoints([point(5)], [point(7), point(6), point(1)]))).toEqual([1, 5, 6, 7]);
});

test('asks again from before a gap, and from before late validation losses', () => {
  const known = Array.from({ length: 1000 }, (_, index) => point(index + 1));
  expect(refetchAfter([])).toBe(0);
  expect(refetchAfter(known.slice(0, 50))).toBe(0);
  expect(refetchAfter(known)).toBe(800);
  expect(refetchAfter([...known.slice(0, 500), ...known.slice(600)])).toBe(300);
});
