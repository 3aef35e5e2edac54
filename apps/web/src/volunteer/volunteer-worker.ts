/**
 * The dedicated Web Worker of a volunteer. It owns the socket and the GPU, so that the page never stutters and a
 * hidden tab goes on working.
 */
import '../zod-without-eval.ts';
import {
  createEngine,
  runSelfTest,
  startVolunteer,
  type VolunteerControls,
  type VolunteerOptions,
} from '@tabweave/trainer';
import { beatMilliseconds, type FromWorker, type ToWorker } from './messages.ts';
import { StateRelay } from './state-relay.ts';
import { tileStore } from './tile-store.ts';
import { wasmFiles } from './wasm-files.ts';

const post = (message: FromWorker): void => self.postMessage(message);
const relay = new StateRelay((state) => post({ type: 'state', state }));
let controls: VolunteerControls | null = null;

function start(options: VolunteerOptions): void {
  controls = startVolunteer(options, {
    createEngine: (backend) => createEngine({ backend, wasmPath: wasmFiles, tiles: tileStore }),
    selfTest: runSelfTest,
    onState: (state) => relay.push(state),
    onIdentity: (identity) => post({ type: 'identity', identity }),
  });
}

async function end(how: 'finish' | 'stop'): Promise<void> {
  await controls?.[how]();
  relay.flush();
  post({ type: 'ended' });
}

function crashed(error: unknown): void {
  relay.flush();
  post({ type: 'crashed', message: error instanceof Error ? error.message : String(error) });
}

self.addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case 'start':
      return start(data.options);
    case 'pause':
      return controls?.pause(data.reason);
    case 'resume':
      return controls?.resume();
    case 'setDutyCycle':
      return controls?.setDutyCycle(data.share);
    case 'finish':
    case 'stop':
      end(data.type).catch(crashed);
  }
});
self.addEventListener('unhandledrejection', (event) => crashed(event.reason));
setInterval(() => post({ type: 'beat' }), beatMilliseconds);
