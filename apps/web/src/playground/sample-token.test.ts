import { Random } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { sampleToken } from './sample-token.ts';

const logits = new Float32Array([Math.log(0.1), Math.log(0.6), Math.log(0.3)]);
function shares(temperature: number, topK: number): number[] {
  const random = new Random(7);
  const counts = [0, 0, 0];
  const draws = 20_000;
  for (let i = 0; i < draws; i++) counts[sampleToken(logits, { temperature, topK }, random)]! += 1 / draws;
  return counts;
}

test('temperature 1 draws by the model’s probabilities', () => {
  const [a, b, c] = shares(1, 0);
  // Four standard deviations of 20,000 draws.
  expect(a).toBeCloseTo(0.1, 1.7);
  expect(b).toBeCloseTo(0.6, 1.7);
  expect(c).toBeCloseTo(0.3, 1.7);
});

test('a low temperature sharpens: probabilities to the power 1/T', () => {
  const sum = 0.1 ** 2 + 0.6 ** 2 + 0.3 ** 2;
  expect(shares(0.5, 0)[1]).toBeCloseTo(0.36 / sum, 1.7);
});

test('top-k leaves the rest out', () => {
  const [a, b] = shares(1, 2);
  expect(a).toBe(0);
  expect(b).toBeCloseTo(0.6 / 0.9, 1.7);
});

test('temperature 0 takes the likeliest, of equals the first', () => {
  const equal = new Float32Array([0, 5, 5]);
  expect(sampleToken(equal, { temperature: 0, topK: 0 }, new Random(1))).toBe(1);
});

test('the same seed draws the same text', () => {
  const draw = (): number[] => {
    const random = new Random(42);
    return Array.from({ length: 20 }, () => sampleToken(logits, { temperature: 1, topK: 0 }, random));
  };
  expect(draw()).toEqual(draw());
});

test('broken parameters are an error, not a token', () => {
  const broken = new Float32Array([Number.NaN, Number.NaN]);
  expect(() => sampleToken(broken, { temperature: 1, topK: 0 }, new Random(1))).toThrow(/broken/);
});
