/** The tasks of a session, one at a time in the order of their arrival. */
import type { Task } from '@tabweave/shared';
import type { Link } from './connection/link.ts';
import type { Job } from './task-runner.ts';

/** The server leases one at a time; a few more may cross a cancellation. */
const mostWaiting = 8;

interface Entry {
  job: Job;
  controller: AbortController;
  uploading: boolean;
}

export class JobQueue {
  readonly #work: (job: Job) => Promise<void>;
  readonly #onIdle: () => void;
  readonly #waiting: Entry[] = [];
  #active: Entry | null = null;
  #draining: Promise<void> | null = null;

  /** @param work must not reject. */
  constructor(work: (job: Job) => Promise<void>, onIdle: () => void) {
    this.#work = work;
    this.#onIdle = onIdle;
  }

  get busy(): boolean {
    return this.#active !== null;
  }

  /** Takes a task, or says that there are too many. */
  add(task: Task, link: Link): boolean {
    if (this.#waiting.length >= mostWaiting) return false;
    const controller = new AbortController();
    const job: Job = { task, link, signal: controller.signal, receivedAt: performance.now() };
    this.#waiting.push({ job, controller, uploading: false });
    this.#draining ??= this.#drain();
    return true;
  }

  /** Marks that of the active job only the sending is left. */
  uploading(job: Job): void {
    if (this.#active?.job === job) this.#active.uploading = true;
  }

  cancel(lease: number, reason: Error): void {
    for (const entry of this.#entries()) if (entry.job.task.lease === lease) entry.controller.abort(reason);
  }

  /** Ends all jobs. */
  drop(reason: Error): void {
    for (const { controller } of this.#entries()) controller.abort(reason);
  }

  /** Ends the jobs whose computation is not over. */
  dropUnfinished(reason: Error): void {
    for (const { controller, uploading } of this.#entries()) if (!uploading) controller.abort(reason);
  }

  /** Ends the jobs that have not begun. */
  dropWaiting(reason: Error): void {
    for (const { controller } of this.#waiting) controller.abort(reason);
  }

  /** Resolves when nothing runs any more. */
  async settled(): Promise<void> {
    await this.#draining;
  }

  #entries(): Entry[] {
    return this.#active ? [this.#active, ...this.#waiting] : [...this.#waiting];
  }

  async #drain(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      this.#active = next;
      await this.#work(next.job);
    }
    this.#active = null;
    this.#draining = null;
    this.#onIdle();
  }
}
