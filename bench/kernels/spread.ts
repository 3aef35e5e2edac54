/** Summaries of repeated timings. Medians, because a shared machine gives outliers upwards and none downwards. */
import { median } from '../statistics.ts';

export interface Spread {
  median: number;
  /** 10th and 90th percentile, interpolated. */
  low: number;
  high: number;
  count: number;
}

export function spread(values: readonly number[]): Spread {
  return {
    median: median(values),
    low: quantile(values, 0.1),
    high: quantile(values, 0.9),
    count: values.length,
  };
}

/** @param share 0 to 1; linear between the neighbours, as NumPy's default. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = share * (sorted.length - 1);
  const below = sorted[Math.floor(position)] ?? NaN;
  const above = sorted[Math.ceil(position)] ?? NaN;
  return below + (above - below) * (position - Math.floor(position));
}

/**
 * How many times `subject` is faster than `base`, round by round: both ran within the same seconds of a round, so
 * what else the machine did then drops out of the quotient.
 */
export function speedup(base: readonly number[], subject: readonly number[]): Spread {
  const rounds = Math.min(base.length, subject.length);
  return spread(base.slice(0, rounds).map((time, round) => time / (subject[round] as number)));
}
