/** One headless worker as its host sees it: a thread, and a fresh one whenever the device has failed. */
import { Worker } from 'node:worker_threads';
import { backoffDelay } from '../session/backoff.ts';
import type { Backoff, VolunteerIdentity, VolunteerOptions, VolunteerState } from '../session/index.ts';
import type { FromThread, ThreadStart, ToThread } from './messages.ts';
import { mayRestart, restartBackoff } from './restart-policy.ts';

/** A pass that hangs does not keep a host that wants to leave. */
const leaveMilliseconds = 10_000;

export interface WorkerParts {
  volunteer: VolunteerOptions;
  /** Each pass takes this many times as long. */
  slow: number;
  events: WorkerEvents;
  /** @default the thread of a real session */
  thread?: URL;
  restart?: Backoff;
}

export interface WorkerEvents {
  onState(state: VolunteerState): void;
  /** What the host does by itself, in words. */
  onNote(text: string): void;
}

export class HeadlessWorker {
  readonly #parts: WorkerParts;
  readonly #events: WorkerEvents;
  readonly #over = Promise.withResolvers<void>();
  #identity: VolunteerIdentity | null = null;
  #thread: Worker | null = null;
  #state: VolunteerState | null = null;
  #crash = '';
  #pausedFor: string | null = null;
  #restarts = 0;
  #acceptedBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #leaving = false;

  constructor(parts: WorkerParts) {
    this.#parts = parts;
    this.#events = parts.events;
    this.#start();
  }

  /** The last state; null before the first. */
  get state(): VolunteerState | null {
    return this.#state;
  }

  /** Resolves when the worker has ended and does not begin afresh. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  pause(reason: string): void {
    this.#pausedFor = reason;
    this.#say({ type: 'pause', reason });
  }

  resume(): void {
    this.#pausedFor = null;
    this.#say({ type: 'resume' });
  }

  /** Completes the present task, then ends. */
  async finish(): Promise<void> {
    this.#leaving = true;
    this.#say({ type: 'finish' });
    if (!this.#thread) this.#end();
    await this.over;
  }

  /** Ends at once. */
  async stop(): Promise<void> {
    this.#leaving = true;
    this.#say({ type: 'stop' });
    if (!this.#thread) this.#end();
    const timer = setTimeout(() => void this.#thread?.terminate(), leaveMilliseconds);
    await this.over;
    clearTimeout(timer);
  }

  #start(): void {
    const { volunteer, slow, thread: file = new URL('./thread.ts', import.meta.url) } = this.#parts;
    const start: ThreadStart = { options: { ...volunteer, identity: this.#identity }, slow };
    const thread = new Worker(file, { workerData: start });
    this.#thread = thread;
    this.#state = null;
    this.#crash = '';
    thread.on('message', (message: FromThread) => this.#heard(message, thread));
    thread.on('error', (error) => {
      this.#crash = error instanceof Error ? error.message : String(error);
    });
    thread.on('exit', () => this.#exited());
    if (this.#pausedFor !== null) this.#say({ type: 'pause', reason: this.#pausedFor });
  }

  #say(message: ToThread): void {
    this.#thread?.postMessage(message);
  }

  #heard(message: FromThread, thread: Worker): void {
    switch (message.type) {
      case 'identity':
        this.#identity = message.identity;
        break;
      case 'state':
        this.#state = message.state;
        this.#events.onState(message.state);
        if (['failed', 'unsuitable', 'stopped'].includes(message.state.phase) && !this.#leaving) {
          void thread.terminate();
        }
        break;
      case 'ended':
        void thread.terminate();
        break;
    }
  }

  #exited(): void {
    const last = this.#state;
    this.#thread = null;
    const worked = last !== null && last.acceptedContributions > this.#acceptedBefore;
    if (worked) this.#restarts = 0;
    this.#acceptedBefore = last?.acceptedContributions ?? this.#acceptedBefore;
    if (this.#crash !== '') this.#events.onNote(`The thread ended unexpectedly: ${this.#crash}`);
    if (this.#leaving || last?.phase === 'stopped' || !mayRestart(last)) {
      this.#end();
      return;
    }
    const delay = backoffDelay(this.#restarts++, this.#parts.restart ?? restartBackoff);
    this.#events.onNote(`Beginning afresh in ${(delay / 1000).toFixed(1)} s.`);
    this.#timer = setTimeout(() => this.#start(), delay);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#over.resolve();
  }
}
