import { ProblemError } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { SessionState } from '../session/session-state.ts';
import type { VolunteerState } from '../session/index.ts';
import { mayRestart } from './restart-policy.ts';

function ended(change: Parameters<SessionState['set']>[0]): VolunteerState {
  const state = new SessionState(() => undefined);
  state.set({
    phase: 'failed',
    selfTest: { passed: true, milliseconds: 1, checks: [], switchedOff: [] },
    ...change,
  });
  return state.current;
}

test('a device that worked is given a fresh engine; what that cannot mend is not tried', () => {
  expect(mayRestart(ended({}))).toBe(true);
  expect(mayRestart(ended({ selfTest: null }))).toBe(false);
  expect(mayRestart(ended({ phase: 'unsuitable' }))).toBe(false);
  const problem = new ProblemError('PROTOCOL_MISMATCH', 'another version').toProblem();
  expect(mayRestart(ended({ problem }))).toBe(false);
  expect(mayRestart(null)).toBe(false);
});
