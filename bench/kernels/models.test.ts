import { expect, test } from 'vitest';
import { forecastSeconds, tooLarge } from './forecast.ts';
import { layoutOf, models, stepFlops, type Model } from './models.ts';
import {
  largeOperations,
  operationBytes,
  operationFlops,
  operationName,
  smallOperations,
} from './operations.ts';
import { channelsFirst } from './page/models/jax-cnn.ts';
import { modelData } from './page/data.ts';
import { fingerprint } from './page/operations/runner.ts';

test('the large model is GPT-2 of 124 million parameters', () => {
  expect(layoutOf(models['124M']).size).toBe(124_439_808);
});

test('a step of the CNN is three passes over its products', () => {
  const forward = 2 * 16 * (28 * 28 * 9 * 1 * 8 + 14 * 14 * 9 * 8 * 16 + 784 * 10);
  expect(stepFlops(models.cnn)).toBe(3 * forward);
});

test('a step of GPT-2 is six operations for each weight and token, and attention', () => {
  const weights = 2 * 12 * 64 * 64 + 65 * 64;
  const attention = 2 * 2 * 32 * 64;
  expect(stepFlops(models.tiny)).toBe(6 * 128 * (weights + attention));
});

test('the same seed gives the same parameters and tokens, another gives others', () => {
  const [first, again, other] = [modelData(models.tiny), modelData(models.tiny), modelData(models.tiny, 2)];
  expect(first.parameters).toEqual(again.parameters);
  expect(first.tokens).toEqual(again.tokens);
  expect(other.parameters.slice(0, 4)).not.toEqual(first.parameters.slice(0, 4));
  expect(first.tokens.length).toBe(4 * 33);
  expect(Math.max(...first.tokens)).toBeLessThan(65);
});

test('work and names of operations', () => {
  const [nn, nt] = smallOperations;
  expect(nn && operationName(nn)).toBe('matmul NN 128x64x192');
  expect(nt && operationName(nt)).toBe('matmul NT 128x64x192');
  expect(nn && operationFlops(nn)).toBe(2 * 128 * 64 * 192);
  expect(nn && operationBytes(nn)).toBe(4 * (128 * 64 + 64 * 192 + 128 * 192));
  const names = [...smallOperations, ...largeOperations].map(operationName);
  expect(new Set(names).size).toBe(names.length);
});

test('a forecast carries launches over by layers and adds the arithmetic', () => {
  const small: Model = models.small;
  const last = { model: models.tiny, seconds: 0.5 };
  expect(forecastSeconds(small, 1e12, last)).toBeCloseTo(1 + stepFlops(small) / 0.05e12, 9);
  expect(forecastSeconds(small, 1e9, null)).toBeCloseTo(stepFlops(small) / 0.05e9, 9);
});

test('a model that does not fit says what is too large', () => {
  const adapter = { name: 'x', software: false, maxBindingBytes: 128 * 2 ** 20 };
  expect(tooLarge(models.tiny, adapter, 2)).toBeNull();
  expect(tooLarge(models['124M'], adapter, 2)).toMatch(/^needs about \d+\.\d GiB of 2/);
  expect(tooLarge(models['124M'], adapter, 100)).toMatch(
    /a tensor of 196 MiB is above the adapter's 128 MiB/,
  );
});

test('kernels of convolutions and the dense layer behind them turn to channels first', () => {
  // [1, 1, 2, 3] -> [3, 2, 1, 1]
  const kernel = channelsFirst('conv2.weight', Float32Array.of(1, 2, 3, 4, 5, 6), [1, 1, 2, 3]);
  expect(kernel.shape).toEqual([3, 2, 1, 1]);
  expect([...kernel.values]).toEqual([1, 4, 2, 5, 3, 6]);
  // Two places of 16 channels, one class: row = place * 16 + channel becomes channel * 2 + place.
  const dense = channelsFirst(
    'dense.weight',
    Float32Array.from({ length: 32 }, (_, row) => row),
    [32, 1],
  );
  expect([...dense.values.slice(0, 6)]).toEqual([0, 16, 1, 17, 2, 18]);
});

test('a fingerprint tells the same numbers in other places apart', () => {
  const ordered = fingerprint([3, 4, 5, 6]);
  const shuffled = fingerprint([6, 3, 4, 5]);
  expect(ordered.norm).toBeCloseTo(Math.sqrt(86), 12);
  expect(shuffled.norm).toBeCloseTo(ordered.norm, 12);
  expect(shuffled.projection).not.toBeCloseTo(ordered.projection, 3);
});
