import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from './random.ts';
import {
  evaluationSampleCount,
  evaluationWindow,
  permute,
  splitTokens,
  trainingWindow,
  windowsIn,
  type Sampling,
} from './sampler.ts';

function sampling(tokens: number, blockSize: number, globalBatch: number, seed = 3): Sampling {
  return { seed, globalBatch, blockSize, ...splitTokens(tokens, 0.1), evaluationSamples: 16 };
}

describe('permute', () => {
  it('is a bijection for every size and key', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.integer(), (size, key) => {
        const images = new Set(Array.from({ length: size }, (_, i) => permute(i, size, key)));
        expect(images.size).toBe(size);
        expect(Math.max(...images)).toBe(size - 1);
      }),
      { numRuns: 50 },
    );
  });
});

describe('training windows', () => {
  it('stay within the training split, with their last target', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 40, max: 5000 }),
        fc.integer({ min: 1, max: 32 }),
        fc.integer({ min: 1, max: 20 }),
        fc.nat(10_000),
        (tokens, blockSize, globalBatch, version) => {
          const s = sampling(tokens, blockSize, globalBatch);
          fc.pre(windowsIn(s.train, blockSize) > 0);
          for (let index = 0; index < globalBatch; index++) {
            const start = trainingWindow(s, version, index);
            expect(start).toBeGreaterThanOrEqual(s.train.start);
            expect(start + blockSize).toBeLessThan(s.train.end);
          }
        },
      ),
    );
  });

  it('visit every window of an epoch once, in another order in the next', () => {
    const s = sampling(2000, 16, 1);
    const windows = windowsIn(s.train, 16) - 1;
    const epoch = (n: number): number[] =>
      Array.from({ length: windows }, (_, i) => trainingWindow(s, n * windows + i, 0));
    const [first, second] = [epoch(0), epoch(1)];
    expect(new Set(first).size).toBe(windows);
    expect(new Set(second).size).toBe(windows);
    const sorted = [...first].sort((a, b) => a - b);
    expect(sorted.every((start, i) => i === 0 || start - (sorted[i - 1] as number) === 16)).toBe(true);
    expect(first).not.toEqual(sorted);
    expect(second.map((start, i) => start - (first[i] as number)).some((d) => d !== 0)).toBe(true);
  });

  it('hang on seed, version and index alone', () => {
    const s = sampling(5000, 8, 4);
    expect(trainingWindow(s, 11, 2)).toBe(trainingWindow({ ...s, evaluationSamples: 3 }, 11, 2));
    const of = (seed: number): number[] =>
      Array.from({ length: 20 }, (_, i) => trainingWindow(sampling(5000, 8, 4, seed), i, 1));
    expect(of(1)).not.toEqual(of(2));
  });
});

describe('evaluation windows', () => {
  it('are distinct, spread over the validation split, and never more than there are', () => {
    const s = sampling(20_000, 16, 4);
    const count = evaluationSampleCount(s);
    expect(count).toBe(16);
    const starts = Array.from({ length: count }, (_, i) => evaluationWindow(s, i));
    expect(new Set(starts).size).toBe(count);
    expect(starts[0]).toBe(s.validation.start);
    expect((starts.at(-1) as number) + 16).toBeLessThan(s.validation.end);
    expect(starts.at(-1)).toBeGreaterThan(s.validation.start + 1800);
    expect(evaluationSampleCount(sampling(400, 16, 4))).toBe(2);
  });
});

describe('Random', () => {
  it('gives standard normal values', () => {
    const random = new Random(42);
    const values = Array.from({ length: 20_000 }, () => random.normal());
    const mean = values.reduce((a, b) => a + b) / values.length;
    const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
    const beyondTwo = values.filter((v) => Math.abs(v) > 2).length / values.length;
    expect(mean).toBeCloseTo(0, 1);
    expect(variance).toBeCloseTo(1, 1);
    expect(beyondTwo).toBeGreaterThan(0.04);
    expect(beyondTwo).toBeLessThan(0.051);
  });
});
