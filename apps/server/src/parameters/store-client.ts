/** The event loop's side of a run's parameter store: every call is a message to its thread. */
import { Worker } from 'node:worker_threads';
import { ProblemError } from '@tabweave/shared';
import { isDiskFull } from '../storage/disk-full.ts';
import type { Verdict } from './gate.ts';
import type { CommittedStep, Contribution, OpenedStore, StoreOptions } from './store.ts';

export type StoreOperation =
  | { type: 'open' }
  | { type: 'add'; contribution: Contribution }
  | { type: 'commit'; meta: unknown }
  | { type: 'parameters' }
  | { type: 'close' };

export interface StoreRequest {
  id: number;
  operation: StoreOperation;
}

export type StoreReply =
  | { id: number; ok: true; value: unknown }
  | { id: number; ok: false; message: string; code: string | null };

export class StoreClient {
  readonly #thread: Worker;
  readonly #pending = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #nextId = 1;
  #failure: Error | undefined;

  constructor(options: StoreOptions) {
    this.#thread = new Worker(new URL('./store-thread.ts', import.meta.url), { workerData: options });
    this.#thread.on('message', (reply: StoreReply) => this.#settle(reply));
    this.#thread.on('error', (error: Error) => this.#fail(error));
    this.#thread.on('exit', () => this.#fail(new Error('the parameter store has ended')));
  }

  open(): Promise<OpenedStore> {
    return this.#call({ type: 'open' }) as Promise<OpenedStore>;
  }

  /** `contribution.bytes` is handed over: its buffer must not be used afterwards. */
  add(contribution: Contribution): Promise<Verdict> {
    const buffer = contribution.bytes.buffer as ArrayBuffer;
    return this.#call({ type: 'add', contribution }, [buffer]) as Promise<Verdict>;
  }

  /** @throws ProblemError STORAGE_FULL when the disk is full; the commit can be tried again. */
  commit(meta: unknown): Promise<CommittedStep> {
    return this.#call({ type: 'commit', meta }) as Promise<CommittedStep>;
  }

  /** A copy of the float32 parameters at the last committed version. */
  parameters(): Promise<Float32Array> {
    return this.#call({ type: 'parameters' }) as Promise<Float32Array>;
  }

  /** Snapshots and ends the thread. */
  async close(): Promise<void> {
    if (!this.#failure) await this.#call({ type: 'close' });
    await this.#thread.terminate();
  }

  #call(operation: StoreOperation, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#thread.postMessage({ id, operation } satisfies StoreRequest, transfer);
    });
  }

  #settle(reply: StoreReply): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.ok) pending?.resolve(reply.value);
    else if (isDiskFull({ code: reply.code ?? undefined })) {
      pending?.reject(new ProblemError('STORAGE_FULL', `the disk is full: ${reply.message}`));
    } else pending?.reject(new Error(reply.message));
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
  }
}
