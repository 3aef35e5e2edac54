import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('at most once a second while work goes on, and every few seconds while a pass takes long', () => {
  const told: [number, string, number][] = [];
  const began = performance.now();
  const link = {
    tell: (_event: 'task:progress', { phase, samplesDone }: { phase: string; samplesDone: number }) =>
      void told.push([Math.round((performance.now() - began) / 100) / 10, phase, samplesDone]),
  };
  const progress = new Progress(link, 7);
  progress.report('download', 0);
  for (let done = 1; done <= 25; done++) {
    vi.advanceTimersByTime(100);
    progress.report('compute', done);
  }
  vi.advanceTimersByTime(10_000); // one long pass
  progress.stop();
  vi.advanceTimersByTime(60_000);
  expect(told).toEqual([
    [0, 'download', 0],
    [1, 'compute', 10],
    [2, 'compute', 20],
    [4, 'compute', 25],
    [8, 'compute', 25],
    [12, 'compute', 25],
  ]);
});
