import { describe, expect, it } from 'vitest';
import { DivergenceWatch } from './divergence.ts';

const report = (watch: DivergenceWatch, workers: string, connected: string): (boolean | null)[] =>
  [...workers].map((worker) => watch.nonFinite(worker, 7, [...connected])?.certain ?? null);

describe('DivergenceWatch', () => {
  it('believes that the model has diverged when every worker says so', () => {
    expect(report(new DivergenceWatch(), 'abab', 'ab')).toEqual([null, null, true, true]);
  });

  it('waits for the worker that has not said so, however often the others do', () => {
    expect(report(new DivergenceWatch(), 'ababababab', 'abc')).toEqual(Array(10).fill(null));
    expect(report(new DivergenceWatch(), 'ababc', 'abc').at(-1)).toBe(true);
  });

  it('is never certain by one worker alone', () => {
    expect(report(new DivergenceWatch(), 'aaaaa', 'a')).toEqual([null, null, false, false, false]);
  });

  it('means nothing once something of the version has been accepted; a new version begins anew', () => {
    const watch = new DivergenceWatch();
    watch.accepted(7);
    expect(report(watch, 'ababab', 'ab')).toEqual(Array(6).fill(null));
    expect(watch.nonFinite('a', 8, ['a', 'b'])).toBeNull();
  });
});
