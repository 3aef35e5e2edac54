/** The controller on the worlds of OmniLearn (arXiv 2503.17469): four containers with these cores. */
import { Random } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { ProportionalPolicy } from './batch-policy.ts';
import { SpeedEstimate } from './speed-estimate.ts';
import { balancedSizes } from './split.ts';

const levels = { HL1: [12, 12, 12, 12], HL2: [12, 12, 8, 16], HL4: [9, 9, 6, 24], HL8: [6, 6, 4, 32] };
const batch = 256;
const transfer = 200;
const perSample = (cores: number): number => 1000 / cores;

class World {
  readonly policy = new ProportionalPolicy();
  readonly random: Random;
  readonly noise: number;
  cores: number[];
  readonly workers: { worker: string; speed: SpeedEstimate }[];

  constructor(cores: number[], noise: number, seed: number) {
    this.cores = cores;
    this.noise = noise;
    this.random = new Random(seed);
    this.workers = cores.map((_, i) => ({ worker: `w${i}`, speed: new SpeedEstimate() }));
  }

  /** One round; gives the ideal round time as a share of this one's. */
  round(): number {
    const sizes = this.policy.plan(batch, this.workers);
    expect(sizes.reduce((a, b) => a + b)).toBe(batch);
    const share = this.ideal() / this.time(sizes);
    sizes.forEach((size, i) => {
      if (size === 0) return;
      this.workers[i]?.speed.observe(
        size,
        this.jitter(size * perSample(this.cores[i] as number)),
        this.jitter(transfer),
      );
    });
    return share;
  }

  ideal(): number {
    return this.time(
      balancedSizes(
        batch,
        this.cores.map((cores) => ({ fixed: transfer, perSample: perSample(cores) })),
      ),
    );
  }

  time(sizes: readonly number[]): number {
    return Math.max(
      ...sizes.map((size, i) => (size === 0 ? 0 : transfer + size * perSample(this.cores[i] as number))),
    );
  }

  jitter(value: number): number {
    return value * (1 + this.noise * (2 * this.random.uniform() - 1));
  }
}

describe.each(Object.entries(levels))('%s', (_, cores) => {
  it('reaches 95 % of the ideal within three adjustments', () => {
    const world = new World(cores, 0, 1);
    const shares = Array.from({ length: 20 }, () => world.round());
    expect(world.policy.changes).toBeLessThanOrEqual(3);
    expect(Math.min(...shares.slice(3))).toBeGreaterThan(0.95);
  });

  it('under 20 % noise settles near the ideal and seldom changes', () => {
    let changes = 0;
    let share = 0;
    const seeds = 40;
    for (let seed = 0; seed < seeds; seed++) {
      const world = new World(cores, 0.2, seed);
      for (let i = 0; i < 20; i++) world.round();
      const before = world.policy.changes;
      for (let i = 0; i < 40; i++) share += world.round() / 40;
      changes += world.policy.changes - before;
    }
    expect(share / seeds).toBeGreaterThan(0.95);
    expect(changes / seeds / 4, 'changes in ten rounds').toBeLessThan(1);
  });
});

it('follows the changing schedule 1-2-4-8-8-4-2-1, and a worker that slows to a quarter, within five rounds', () => {
  const world = new World(levels.HL1, 0.05, 3);
  const schedule = [
    levels.HL1,
    levels.HL2,
    levels.HL4,
    levels.HL8,
    levels.HL8,
    levels.HL4,
    levels.HL2,
    levels.HL1,
    [12, 12, 12, 3],
  ];
  for (const cores of schedule) {
    world.cores = cores;
    const shares = Array.from({ length: 12 }, () => world.round());
    expect(Math.min(...shares.slice(5)), JSON.stringify(cores)).toBeGreaterThan(0.93);
  }
});

it('plans at once for who has come or gone, taking a newcomer for the median', () => {
  const world = new World([10, 10, 10], 0, 1);
  for (let i = 0; i < 5; i++) world.round();
  const newcomer = { worker: 'new', speed: new SpeedEstimate() };
  expect(world.policy.plan(batch, [...world.workers, newcomer])).toEqual([64, 64, 64, 64]);
  expect(world.policy.plan(batch, world.workers.slice(1))).toEqual([128, 128]);
});

it('a worker behind a slow link gets less than its twin', () => {
  const near = { worker: 'near', speed: new SpeedEstimate() };
  const far = { worker: 'far', speed: new SpeedEstimate() };
  for (let i = 0; i < 5; i++) {
    near.speed.observe(50, 500, 100);
    far.speed.observe(50, 500, 700);
  }
  // 10 ms a sample: 600 ms more of transfer are worth 60 samples, half of which the other takes over.
  expect(new ProportionalPolicy().plan(100, [near, far])).toEqual([80, 20]);
});

describe('a worker that oscillates between full and a quarter of its speed', () => {
  it.each([1, 2, 10])('every %i rounds does not make the plan oscillate', (period) => {
    const world = new World(levels.HL1, 0.05, 7);
    const shares: number[] = [];
    let settled = 0;
    for (let round = 0; round < 120; round++) {
      if (round === 20) settled = world.policy.changes;
      world.cores = [12, 12, 12, Math.floor(round / period) % 2 === 0 ? 12 : 3];
      shares.push(world.round());
    }
    expect((world.policy.changes - settled) / 10, 'changes in ten rounds').toBeLessThan(1);
    // An equal split, which is right in the fast rounds, would have 0.66.
    expect(shares.slice(20).reduce((a, b) => a + b) / 100).toBeGreaterThan(0.68);
  });
});

describe('a worker that cannot pay its fixed time', () => {
  const run = (rounds: number, fixedAt: (round: number) => number): number[] => {
    const policy = new ProportionalPolicy();
    const workers = ['a', 'b', 'far'].map((worker) => ({ worker, speed: new SpeedEstimate() }));
    return Array.from({ length: rounds }, (_, round) => {
      const sizes = policy.plan(64, workers);
      expect(sizes.reduce((a, b) => a + b)).toBe(64);
      sizes.forEach((size, i) => {
        if (size > 0) workers[i]?.speed.observe(size, size * 10, i === 2 ? fixedAt(round) : 50);
      });
      return sizes[2] ?? 0;
    });
  };

  it('gets nothing but a trial of one sample, ever more seldom', () => {
    const sizes = run(1000, () => 5000).slice(1);
    const trials = sizes.flatMap((size, round) => (size > 0 ? [round] : []));
    expect(sizes.every((size) => size <= 1)).toBe(true);
    expect(trials).toEqual([15, 47, 111, 239, 495]);
  });

  it('has its share again soon after its link has got better', () => {
    const sizes = run(40, (round) => (round < 5 ? 5000 : 50));
    expect(sizes[5]).toBe(0);
    expect(sizes.slice(20).every((size) => size === 21 || size === 22)).toBe(true);
  });
});

it('times that are no times are ignored', () => {
  const speed = new SpeedEstimate();
  for (const bad of [NaN, Infinity, -1]) {
    speed.observe(10, bad, 5);
    speed.observe(10, 5, bad);
  }
  speed.observe(0, 5, 5);
  expect(speed.known).toBe(false);
  speed.observe(4, 0, 0);
  expect(balancedSizes(10, [{ fixed: speed.fixed, perSample: speed.perSample }])).toEqual([10]);
});
