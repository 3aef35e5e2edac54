/** Seeded pseudo-random numbers (mulberry32), so that whatever draws them can be run again. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, below). */
  integer(below: number): number;
  /** Standard normal (Box-Muller). */
  normal(): number;
  /** Exponential with this rate; Infinity for a rate of 0. */
  exponential(rate: number): number;
}

export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    integer: (below) => Math.floor(next() * below),
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    exponential: (rate) => (rate > 0 ? -Math.log(1 - next()) / rate : Infinity),
  };
}
