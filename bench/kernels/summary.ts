/** From the times of a case's contenders to what the report says about them. */
import type { CaseResult, Ceilings, ContenderResult } from './report.ts';
import { speedup, spread } from './spread.ts';

export interface Work {
  name: string;
  flops: number;
  bytes: number;
}

export interface Timed {
  contender: string;
  first: number | null;
  /** Milliseconds, one value a round. */
  rounds: number[];
}

/** @param base the contender that the others are compared with, where it took part. */
export function summarise(
  work: Work,
  timed: readonly Timed[],
  base: string,
): Pick<CaseResult, keyof Work | 'base' | 'contenders'> {
  const reference = timed.find(({ contender }) => contender === base);
  const contenders = timed.map(
    ({ contender, first, rounds }): ContenderResult => ({
      contender,
      first,
      rounds,
      time: spread(rounds),
      speedup: reference ? speedup(reference.rounds, rounds) : null,
      ofCeiling: null,
    }),
  );
  return { ...work, base: reference ? base : null, contenders };
}

export function withCeilings<T extends CaseResult>(result: T, ceilings: Ceilings): T {
  const least = leastSeconds(result, ceilings);
  const contenders = result.contenders.map((entry) => ({
    ...entry,
    ofCeiling: (1000 * least) / entry.time.median,
  }));
  return { ...result, contenders };
}

/** What the work would take at the ceilings: arithmetic or traffic, whichever lasts longer. */
export function leastSeconds(work: Work, ceilings: Ceilings): number {
  return Math.max(work.flops / ceilings.flops, work.bytes / ceilings.bandwidth);
}

/** A contender that beats the plain shaders is the ceiling itself. */
export function raisedBy(cases: readonly CaseResult[], ceilings: Ceilings): Ceilings {
  let best = ceilings;
  for (const { name, flops, contenders } of cases) {
    for (const { contender, time } of contenders) {
      const rate = (1000 * flops) / time.median;
      if (rate > best.flops) best = { ...best, flops: rate, flopsBy: `${contender} at ${name}` };
    }
  }
  return best;
}
