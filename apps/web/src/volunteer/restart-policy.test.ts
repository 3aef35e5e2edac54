import { ProblemError } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { countFailure, restartDelay, verdict } from './restart-policy.ts';

const problem = (code: ConstructorParameters<typeof ProblemError>[0]) =>
  new ProblemError(code, '').toProblem();

describe('restart policy', () => {
  it('waits 1 s, doubles, and stays at a minute', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 50, 5000].map(restartDelay)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('counts failures in a row, anew after useful work or a long life', () => {
    expect(countFailure(0, { milliseconds: 900, accepted: 0 })).toBe(1);
    expect(countFailure(3, { milliseconds: 900, accepted: 0 })).toBe(4);
    expect(countFailure(3, { milliseconds: 900, accepted: 1 })).toBe(1);
    expect(countFailure(3, { milliseconds: 300_000, accepted: 0 })).toBe(1);
  });

  it('restarts what a fresh worker can mend, and only that', () => {
    expect(verdict({ problem: null })).toBe('restart');
    expect(verdict({ problem: problem('DRAINING') })).toBe('restart');
    expect(verdict({ problem: problem('TOO_MANY') })).toBe('restart');
    expect(verdict({ problem: problem('PROTOCOL_MISMATCH') })).toBe('reload');
    expect(verdict({ problem: problem('FORBIDDEN') })).toBe('give-up');
  });
});
