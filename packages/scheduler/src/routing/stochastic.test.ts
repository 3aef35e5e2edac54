import { Random } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { StochasticRouter, backwardSize } from './stochastic.ts';
import { TaskTime } from './task-time.ts';

describe('StochasticRouter', () => {
  it('gives workers shares by their measured speed', () => {
    const router = new StochasticRouter(new Random(1));
    const times = { fast: 100, middle: 200, slow: 400 };
    const workers = Object.keys(times) as (keyof typeof times)[];
    for (const worker of workers) router.add(worker, { from: 0, to: 1, weight: 1 });
    const counts = { fast: 0, middle: 0, slow: 0 };
    for (let m = 0; m < 2000; m++) {
      const worker = router.pick(0) as keyof typeof times;
      router.observe(worker, times[worker]);
      if (m >= 600) counts[worker]++;
    }
    expect(counts.fast / 1400).toBeCloseTo(4 / 7, 1);
    expect(counts.middle / 1400).toBeCloseTo(2 / 7, 1);
    expect(counts.slow / 1400).toBeCloseTo(1 / 7, 1);
  });

  it('charges a backward task 2.5 times', () => {
    const router = new StochasticRouter(new Random(1));
    router.add('a', { from: 0, to: 1, weight: 1 });
    router.add('b', { from: 0, to: 1, weight: 1 });
    const first = router.pick(0, { size: backwardSize });
    const others = [router.pick(0), router.pick(0), router.pick(0)];
    expect(others.every((worker) => worker !== first)).toBe(true);
    expect(router.pick(0)).toBe(first);
  });

  it('tries a new worker at once', () => {
    const router = new StochasticRouter(new Random(1));
    router.add('a', { from: 0, to: 1, weight: 1 });
    for (let m = 0; m < 50; m++) router.pick(0);
    router.add('b', { from: 0, to: 1, weight: 1 });
    const picks = [router.pick(0), router.pick(0), router.pick(0), router.pick(0)];
    expect(picks.filter((worker) => worker === 'b')).toHaveLength(2);
  });
});

describe('TaskTime', () => {
  it('is not drawn to 0 by its first observations', () => {
    const time = new TaskTime();
    expect(time.mean).toBeNull();
    time.observe(300);
    expect(time.mean).toBeCloseTo(300);
    time.observe(300);
    expect(time.mean).toBeCloseTo(300);
    for (let i = 0; i < 100; i++) time.observe(600);
    expect(time.mean).toBeCloseTo(600, 0);
  });
});
