/** Generates text with a run's parameters, away from the page's thread. */
import { Random, countParameters, decodeVector, type Gpt2Config } from '@tabweave/shared';
import type { Engine } from '@tabweave/trainer';
import type { FromGenerator, GenerateMessage, LoadMessage, ToGenerator } from './messages.ts';
import { pickEngine } from './pick-engine.ts';
import { sampleToken } from './sample-token.ts';

const post = (message: FromGenerator): void => self.postMessage(message);
let engine: Engine | null = null;
let config: Gpt2Config | null = null;
/** The generation that may go on; a stop or a newer one ends the others. */
let current = 0;

async function load(message: LoadMessage): Promise<void> {
  const parameters = new Float32Array(countParameters(message.config));
  decodeVector(new Uint8Array(message.parameters), message.encoding, parameters);
  engine ??= await pickEngine(message.config);
  config = message.config;
  await engine.load({ config, blockSize: config.positions }, parameters);
  post({ type: 'loaded', device: engine.report.backend });
}

async function generate({ request, ids, length, sampling, seed }: GenerateMessage): Promise<void> {
  if (engine === null || config === null) throw new Error('No parameters are loaded.');
  const random = new Random(seed);
  const context = [...ids];
  current = request;
  for (let drawn = 0; drawn < length && current === request; drawn++) {
    const logits = await engine.logits(Int32Array.from(context.slice(-config.positions)));
    const id = sampleToken(logits, sampling, random);
    context.push(id);
    post({ type: 'token', request, id });
    // A stop can be heard only between tasks of the event loop.
    await new Promise<void>((resume) => setTimeout(resume));
  }
  post({ type: 'done', request });
}

function failed(error: unknown): void {
  post({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
}

/** Loads and generations run one after the other. */
let queue: Promise<void> = Promise.resolve();

self.addEventListener('message', ({ data }: MessageEvent<ToGenerator>) => {
  if (data.type === 'stop') {
    current = 0;
    return;
  }
  queue = queue.then(() => (data.type === 'load' ? load(data) : generate(data))).catch(failed);
});
self.addEventListener('unhandledrejection', (event) => failed(event.reason));
