/** The thread of one headless worker: a session with an engine of Node. */
import { parentPort, workerData } from 'node:worker_threads';
import { startVolunteer, type VolunteerPhase, type VolunteerState } from '../session/index.ts';
import { nodeWebGpu, wasmFolder } from './devices.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import { SlowEngine } from './slow-engine.ts';

const { options, slow } = workerData as ThreadStart;
const port = parentPort;
if (!port) throw new Error('This file is the thread of a headless worker; start headless.ts instead.');
const say = (message: FromThread): void => port.postMessage(message);

/** Small models go through many states a second; the last one always arrives, these at once. */
const urgent: readonly VolunteerPhase[] = ['unsuitable', 'stopped', 'failed', 'paused', 'finishing'];
const relayMilliseconds = 40;
let latest: VolunteerState | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

function flush(): void {
  clearTimeout(timer);
  timer = undefined;
  if (latest) say({ type: 'state', state: latest });
  latest = null;
}

const volunteer = startVolunteer(options, {
  createEngine: async (backend) => {
    // Without WebGPU for this platform the engine says so, and `auto` goes on to WASM.
    const wanted = backend === 'auto' || backend === 'webgpu';
    const gpu = wanted ? await nodeWebGpu().catch(() => undefined) : undefined;
    // Only now: TensorFlow.js looks for WebGPU's constants when it is imported.
    const { createEngine } = await import('../index.ts');
    const engine = await createEngine({ backend, gpu, wasmPath: wasmFolder() });
    return slow > 1 ? new SlowEngine(engine, slow) : engine;
  },
  selfTest: async (engine) => (await import('../index.ts')).runSelfTest(engine),
  onState: (state) => {
    latest = state;
    if (urgent.includes(state.phase)) flush();
    else timer ??= setTimeout(flush, relayMilliseconds);
  },
  onIdentity: (identity) => say({ type: 'identity', identity }),
});

port.on('message', (message: ToThread) => {
  switch (message.type) {
    case 'pause':
      volunteer.pause(message.reason);
      break;
    case 'resume':
      volunteer.resume();
      break;
    case 'finish':
    case 'stop':
      void volunteer[message.type]().then(() => {
        flush();
        say({ type: 'ended' });
      });
      break;
  }
});
