import { Random } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { SmoothedMean } from './smoothed-mean.ts';

const settled = (value: number): SmoothedMean => {
  const mean = new SmoothedMean();
  for (let i = 0; i < 10; i++) mean.observe(value);
  return mean;
};

describe('SmoothedMean', () => {
  it('hardly believes one large deviation, and two of them at once', () => {
    const mean = settled(10);
    mean.observe(90);
    expect(mean.mean).toBeGreaterThan(10);
    expect(mean.mean).toBeLessThan(10.2);
    mean.observe(94);
    expect(mean.mean).toBe(92);
  });

  it('does not take one up and one down for a change', () => {
    const mean = settled(10);
    mean.observe(30);
    mean.observe(1);
    expect(mean.mean).toBeCloseTo(10, 0);
  });

  it('averages what swings instead of chasing it', () => {
    const mean = settled(10);
    const seen: number[] = [];
    for (let i = 0; i < 60; i++) {
      mean.observe(Math.floor(i / 2) % 2 === 0 ? 40 : 10);
      seen.push(mean.mean);
    }
    expect(Math.min(...seen.slice(20))).toBeGreaterThan(18);
    expect(Math.max(...seen.slice(20))).toBeLessThan(32);
  });

  it('has the right mean under noise, within about the error it states', () => {
    const random = new Random(5);
    let within = 0;
    for (let trial = 0; trial < 200; trial++) {
      const mean = new SmoothedMean();
      for (let i = 0; i < 40; i++) mean.observe(100 * (0.8 + 0.4 * random.uniform()));
      expect(Math.abs(mean.mean - 100)).toBeLessThan(15);
      if (Math.abs(mean.mean - 100) <= 2 * mean.error) within++;
    }
    expect(within / 200).toBeGreaterThan(0.9);
  });

  it('is replaced by the next observation when it is old', () => {
    const mean = settled(10);
    mean.renew();
    expect(mean.mean).toBe(10);
    mean.observe(70);
    expect(mean.mean).toBe(70);
  });
});
