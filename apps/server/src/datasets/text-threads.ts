/** Starts tokenizer work in threads, bounds its time, and ends what is left when the server closes. */
import { Worker } from 'node:worker_threads';
import { ProblemError, type ProblemCode } from '@tabweave/shared';
import type { TextJob, TextResult } from './text-thread.ts';

const limitMilliseconds = { ingest: 600_000, encode: 15_000, decode: 15_000 } as const;

type Reply = { ok: true; result: TextResult } | { ok: false; code: ProblemCode; message: string };

export class TextThreads {
  readonly #running = new Set<Worker>();

  /** @param signal ends the work early, for example because nobody waits for it any more. */
  run(job: TextJob, signal?: AbortSignal): Promise<TextResult> {
    const thread = new Worker(new URL('./text-thread.ts', import.meta.url), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: 4096 },
    });
    this.#running.add(thread);
    const limit = limitMilliseconds[job.type];
    const { promise, resolve, reject } = Promise.withResolvers<TextResult>();
    const fail = (code: ProblemCode, detail: string): void => reject(new ProblemError(code, detail));
    const timer = setTimeout(() => {
      fail('INVALID_TOKENIZER', `The tokenizer did not come to an end within ${limit / 1000} s.`);
    }, limit);
    const abort = (): void => fail('INVALID_INPUT', 'The request was given up.');
    signal?.addEventListener('abort', abort, { once: true });
    thread.once('message', (reply: Reply) => {
      if (reply.ok) resolve(reply.result);
      else fail(reply.code, reply.message);
    });
    thread.once('error', (error: Error) =>
      fail('INVALID_DATASET', `The text could not be tokenised: ${error.message}`),
    );
    thread.once('exit', () => fail('INTERNAL', 'The tokenising thread ended early.'));
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#running.delete(thread);
      void thread.terminate();
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((thread) => thread.terminate()));
  }
}
