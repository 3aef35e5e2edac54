import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ArithmeticEngine } from '../testing/arithmetic-engine.ts';
import { parametersOf, tinyConfig } from '../testing/tasks.ts';
import { checkShare, restAfter } from './duty-cycle.ts';
import { EngineGuard } from './engine-guard.ts';
import { computePasses } from './passes.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [100, 1, 0],
  [100, 0.5, 100],
  // BOINC's words: 75 % means compute 3 s, wait 1 s.
  [3000, 0.75, 1000],
  [10, 0.1, 90],
])('after %d ms of work at share %d the device rests %d ms', (busy, share, rest) => {
  expect(restAfter(busy, share)).toBeCloseTo(rest, 9);
});

test.each([0, -0.1, 1.01, Number.NaN])('a share of %d is refused', (share) => {
  expect(() => checkShare(share)).toThrow(/above 0 and at most 1/);
});

test('the share holds over the passes of a task, and a change counts from the next pass on', async () => {
  const passMilliseconds = 40;
  const engine = new ArithmeticEngine({
    onPass: () => new Promise((resolve) => setTimeout(resolve, passMilliseconds)),
  });
  await engine.load({ config: tinyConfig, blockSize: 8 }, parametersOf(tinyConfig, 0));
  const samples = 4;
  const task = {
    kind: 'train',
    samples: { start: 0, end: samples },
    passSize: 1,
    runId: 'run',
    config: tinyConfig,
    gradientEncoding: 'float32',
    sampling: { blockSize: 8 },
  } as unknown as Parameters<typeof computePasses>[0];
  let share = 0.25;
  const began = performance.now();
  let ended = 0;
  const computed = computePasses(task, new Int32Array(9 * samples), {
    engine,
    guard: new EngineGuard(engine),
    signal: new AbortController().signal,
    dutyCycle: () => share,
    onPass: (done) => {
      if (done === 2) share = 0.5;
    },
  }).then(() => {
    ended = performance.now();
  });
  await vi.advanceTimersByTimeAsync(10_000);
  await computed;
  // One pass at a quarter of the time, three at half.
  expect(ended - began).toBeGreaterThanOrEqual(40 / 0.25 + (3 * 40) / 0.5);
  expect(ended - began).toBeLessThanOrEqual(40 / 0.25 + (3 * 40) / 0.5 + samples);
});
