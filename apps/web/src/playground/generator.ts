/** One playground's generation, as state to show: parameters fetched when they are new, text decoded as it grows. */
import type { Run } from '@tabweave/shared';
import { errorWords, ApiError } from '../api/api-error.ts';
import { decodeIds, encodeText, getParametersRef } from '../api/calls.ts';
import type { FromGenerator, ToGenerator } from './messages.ts';
import type { SamplingOptions } from './sample-token.ts';

export interface GeneratorState {
  phase: 'idle' | 'loading' | 'generating';
  /** What it does while loading. */
  activity: string;
  prompt: string;
  /** Prompt not included. */
  text: string;
  tokens: number;
  /** Step of the parameters, and the back end; null before the first. */
  model: { version: number; device: string } | null;
  error: { title: string; detail: string } | null;
}

export interface GenerationRequest {
  prompt: string;
  length: number;
  sampling: SamplingOptions;
  seed: number;
}

const idle: GeneratorState = {
  phase: 'idle',
  activity: '',
  prompt: '',
  text: '',
  tokens: 0,
  model: null,
  error: null,
};

export class Generator {
  readonly #listeners = new Set<() => void>();
  #state = idle;
  #worker: Worker | null = null;
  #loadedHash: string | null = null;
  #request = 0;
  #ids: number[] = [];
  #finish: (() => void) | null = null;
  #waiting: { resolve: (device: string) => void; reject: (error: Error) => void } | null = null;

  readonly state = (): GeneratorState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  async generate(run: Run, { prompt, ...rest }: GenerationRequest): Promise<void> {
    if (this.#state.phase !== 'idle') return;
    const request = ++this.#request;
    this.#ids = [];
    this.#show({
      phase: 'loading',
      activity: 'Reading the prompt…',
      prompt,
      text: '',
      tokens: 0,
      error: null,
    });
    try {
      const ids = await encodeText(run.datasetId, prompt);
      if (ids.length === 0) {
        throw new ApiError(
          400,
          'The prompt has no known characters',
          'None of its characters are in the vocabulary of the dataset. Use characters that occur in the text.',
        );
      }
      await this.#load(run);
      if (request !== this.#request) return;
      this.#show({ phase: 'generating', activity: '' });
      this.#send({ type: 'generate', request, ids, ...rest });
      await this.#drawn(run.datasetId, request);
    } catch (error) {
      if (request === this.#request) this.#show({ phase: 'idle', error: explain(error) });
    }
  }

  stop(): void {
    this.#request++;
    this.#send({ type: 'stop' });
    this.#show({ phase: 'idle', activity: '' });
  }

  /** Ends the Web Worker and what it holds. */
  dispose(): void {
    this.#request++;
    this.#worker?.terminate();
    this.#worker = null;
    this.#loadedHash = null;
    this.#state = idle;
  }

  async #load(run: Run, triesLeft = 3): Promise<void> {
    const ref = await getParametersRef(run.id);
    if (ref.hash === this.#loadedHash) return;
    this.#show({ activity: `Fetching the parameters of step ${ref.version}…` });
    const response = await fetch(ref.url);
    // A run under way soon drops old versions: there is a newer one by now.
    if (response.status === 404 && triesLeft > 0) return this.#load(run, triesLeft - 1);
    if (!response.ok) throw new Error(`The parameters could not be fetched: status ${response.status}.`);
    const parameters = await response.arrayBuffer();
    this.#show({ activity: 'Loading them into the model…' });
    const device = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#send({ type: 'load', config: run.config, parameters, encoding: ref.encoding }, [parameters]);
    });
    this.#loadedHash = ref.hash;
    this.#show({ model: { version: ref.version, device } });
  }

  /** Resolves when the last token is decoded. */
  async #drawn(datasetId: string, request: number): Promise<void> {
    let done = false;
    const ended = new Promise<void>((resolve, reject) => {
      this.#finish = resolve;
      this.#waiting = { resolve: () => undefined, reject };
    }).then(() => (done = true));
    ended.catch(() => undefined);
    let shown = 0;
    while (request === this.#request && !(done && shown === this.#ids.length)) {
      if (shown === this.#ids.length) {
        await Promise.race([ended, new Promise((resume) => setTimeout(resume, 40))]);
        continue;
      }
      // Whole, since a character may be spread over several tokens.
      const ids = [...this.#ids];
      const text = await decodeIds(datasetId, ids);
      shown = ids.length;
      if (request === this.#request) this.#show({ text, tokens: shown });
    }
    if (request === this.#request) this.#show({ phase: 'idle' });
  }

  #send(message: ToGenerator, transfer: Transferable[] = []): void {
    if (this.#worker === null && message.type === 'stop') return;
    this.#worker ??= this.#spawn();
    this.#worker.postMessage(message, transfer);
  }

  #spawn(): Worker {
    const worker = new Worker(new URL('./generate-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<FromGenerator>) => this.#hear(data));
    worker.addEventListener('error', (event) =>
      this.#hear({ type: 'failed', message: event.message || 'The generating thread could not be started.' }),
    );
    return worker;
  }

  #hear(message: FromGenerator): void {
    switch (message.type) {
      case 'loaded':
        return this.#waiting?.resolve(message.device);
      case 'token':
        if (message.request === this.#request) this.#ids.push(message.id);
        return;
      case 'done':
        if (message.request === this.#request) this.#finish?.();
        return;
      case 'failed': {
        // The thread may be beyond use: the next request makes a new one.
        this.#worker?.terminate();
        this.#worker = null;
        this.#loadedHash = null;
        this.#waiting?.reject(new Error(message.message));
      }
    }
  }

  #show(change: Partial<GeneratorState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function explain(error: unknown): { title: string; detail: string } {
  if (error instanceof ApiError && error.code === 'CONFLICT') {
    return {
      title: 'There are no parameters yet',
      detail: 'Start the run: its parameters exist from then on, and grow better with each step.',
    };
  }
  if (error instanceof ApiError) return errorWords(error);
  return { title: 'Generating failed', detail: error instanceof Error ? error.message : String(error) };
}
