import { expect, test } from 'vitest';
import { SessionState } from '../session/session-state.ts';
import { StatusLines } from './status-lines.ts';

test('a wait is told once it lasts, work now and then, an end at once', () => {
  const state = new SessionState(() => undefined);
  const status = new StatusLines();
  const task = { kind: 'train', version: 4, samples: 8, samplesDone: 0 } as const;
  const printed: [number, string][] = [];
  const at = (now: number, change: Parameters<SessionState['set']>[0]): void => {
    state.set(change);
    printed.push(...status.next(state.current, now).map((line): [number, string] => [now, line]));
  };
  at(0, { phase: 'connecting', message: 'The server cannot be reached (refused).' });
  at(1000, {});
  at(2000, {});
  at(3000, {});
  at(4000, { phase: 'computing', message: 'Training.', task });
  // The moments between tasks are not told.
  for (let now = 5000; now <= 14_000; now += 1000) {
    at(now, { phase: 'waiting', message: 'Waiting for the step.' });
    at(now + 500, { phase: 'computing', message: 'Training.', task });
  }
  state.end('failed', 'The device failed: lost.');
  at(15_000, {});
  at(16_000, {});
  expect(printed).toEqual([
    [2000, 'The server cannot be reached (refused).'],
    [4000, 'version 4, 8 samples; counted: 0 samples in 0 contributions.'],
    [14_500, 'version 4, 8 samples; counted: 0 samples in 0 contributions.'],
    [15_000, 'The device failed: lost.'],
  ]);
});
