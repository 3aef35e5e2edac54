import { expect, test } from 'vitest';
import { SessionState } from './session-state.ts';
import type { VolunteerState } from './volunteer-state.ts';

test('what goes on under a pause shows again when it is lifted', () => {
  const told: VolunteerState[] = [];
  const state = new SessionState((next) => told.push(next));
  state.set({ phase: 'connecting', message: 'Connecting.' });
  state.override({ phase: 'paused', message: 'on battery' });
  state.set({ phase: 'uploading', message: 'Sending.' });
  expect(state.current).toMatchObject({ phase: 'paused', message: 'on battery' });
  state.override(null);
  expect(told.at(-1)).toMatchObject({ phase: 'uploading', message: 'Sending.' });
});

test('the end is final, and a pause does not hide it', () => {
  const state = new SessionState(() => undefined);
  state.override({ phase: 'paused', message: 'on battery' });
  state.end('failed', 'The device failed.');
  state.set({ phase: 'computing', message: 'Training.' }, 'late');
  expect(state.current).toMatchObject({ phase: 'failed', message: 'The device failed.' });
  expect(state.current.log.map(({ text }) => text)).toEqual(['The device failed.']);
});

test('the log keeps the last 50 events, newest first; states given out do not change', () => {
  const told: VolunteerState[] = [];
  const state = new SessionState((next) => told.push(next));
  for (let i = 1; i <= 60; i++) state.note(`event ${i}`);
  expect(state.current.log).toHaveLength(50);
  expect([state.current.log[0]?.text, state.current.log[49]?.text]).toEqual(['event 60', 'event 11']);
  expect(told[0]?.log).toHaveLength(1);
});
