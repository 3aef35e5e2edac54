/** Tells the server how far a task is, which renews its lease: at each step of the work, and while one takes long. */
import { taskProgressSchema } from '@tabweave/shared';
import type { Link } from './connection/link.ts';

type Phase = 'download' | 'compute' | 'upload';

const leastMilliseconds = 1000;
const heartbeatMilliseconds = 4000;

export class Progress {
  readonly #link: Pick<Link, 'tell'>;
  readonly #lease: number;
  readonly #timer: ReturnType<typeof setInterval>;
  #phase: Phase = 'download';
  #samplesDone = 0;
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(link: Pick<Link, 'tell'>, lease: number) {
    this.#link = link;
    this.#lease = lease;
    this.#timer = setInterval(() => this.#tell(), heartbeatMilliseconds);
  }

  /** Sent at once, but not more often than once a second. */
  report(phase: Phase, samplesDone: number): void {
    this.#phase = phase;
    this.#samplesDone = samplesDone;
    if (performance.now() - this.#toldAt >= leastMilliseconds) this.#tell();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #tell(): void {
    this.#toldAt = performance.now();
    const progress = { lease: this.#lease, phase: this.#phase, samplesDone: this.#samplesDone };
    this.#link.tell('task:progress', taskProgressSchema.parse(progress));
  }
}
