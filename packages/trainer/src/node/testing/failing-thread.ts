/**
 * The thread of a worker whose device fails: told to pause, the first incarnation reports a lost device, the second
 * crashes, the third does as it is told.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SessionState } from '../../session/session-state.ts';
import type { FromThread, ThreadStart, ToThread } from '../messages.ts';

const say = (message: FromThread): void => parentPort?.postMessage(message);
const state = new SessionState((next) => say({ type: 'state', state: next }));
const { identity } = (workerData as ThreadStart).options;
const incarnation = Number(identity?.workerId ?? 0) + 1;
say({ type: 'identity', identity: { workerId: `${incarnation}`, secret: 'secret' } });
state.set({
  phase: 'waiting',
  message: '',
  selfTest: { passed: true, milliseconds: 1, checks: [], switchedOff: [] },
});

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'pause') {
    state.set({ phase: 'paused', message: message.reason });
    if (incarnation === 1) state.end('failed', 'The device failed: lost.');
    if (incarnation === 2) throw new Error('out of memory');
  }
  if (message.type === 'stop') say({ type: 'ended' });
});
