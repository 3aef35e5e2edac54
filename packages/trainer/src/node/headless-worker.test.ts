import { expect, test } from 'vitest';
import { until } from '../session/testing/protocol-server.ts';
import { HeadlessWorker } from './headless-worker.ts';

test('a fresh thread follows a lost device and a crash, with the identity and the pause of the one before', async () => {
  const notes: string[] = [];
  const told: string[] = [];
  const worker = new HeadlessWorker({
    volunteer: { url: '', runId: null, name: '', dutyCycle: 1, backend: 'cpu', identity: null },
    slow: 1,
    events: {
      onState: ({ phase, message }) => told.push(`${phase} ${message}`.trim()),
      onNote: (text) => notes.push(text),
    },
    thread: new URL('./testing/failing-thread.ts', import.meta.url),
    restart: { first: 1, most: 2 },
  });
  worker.pause('snoozed');
  await until(() => told.filter((line) => line === 'paused snoozed').length === 3, 'the third thread');
  expect(told).toEqual([
    'waiting',
    'paused snoozed',
    'failed The device failed: lost.',
    'waiting',
    'paused snoozed',
    'waiting',
    'paused snoozed',
  ]);
  expect(notes.filter((note) => note.startsWith('Beginning afresh'))).toHaveLength(2);
  expect(notes).toContain('The thread ended unexpectedly: out of memory');
  await worker.stop();
  expect(worker.state?.phase).toBe('paused');
});
