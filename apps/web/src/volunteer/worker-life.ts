/** One Web Worker from its start to its end, watched. The host decides what comes after it. */
import type { VolunteerOptions, VolunteerState } from '@tabweave/trainer';
import { beatMilliseconds, type FromWorker, type Identity, type ToWorker } from './messages.ts';
import { Watchdog } from './watchdog.ts';

/** What the host needs of a Web Worker. */
export interface WorkerPort {
  postMessage(message: ToWorker): void;
  terminate(): void;
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  onerror: ((event: ErrorEvent) => void) | null;
}

export interface LifeListener {
  state(state: VolunteerState): void;
  identity(identity: Identity): void;
  ended(): void;
  /** Crashed, or does not answer any more. The worker has been ended. */
  died(why: string): void;
}

export class WorkerLife {
  readonly startedAt = Date.now();
  readonly #port: WorkerPort;
  readonly #watch: ReturnType<typeof setInterval>;
  #over = false;

  constructor(port: WorkerPort, options: VolunteerOptions, listener: LifeListener) {
    this.#port = port;
    const watchdog = new Watchdog(Date.now());
    const die = (why: string): void => {
      if (this.#over) return;
      this.end();
      listener.died(why);
    };
    this.#watch = setInterval(() => {
      if (watchdog.check(Date.now())) die('The worker did not answer any more.');
    }, 5 * beatMilliseconds);
    port.onmessage = ({ data }) => {
      if (this.#over) return;
      watchdog.beat();
      switch (data.type) {
        case 'state':
          return listener.state(data.state);
        case 'identity':
          return listener.identity(data.identity);
        case 'ended':
          return listener.ended();
        case 'crashed':
          return die(`The worker failed: ${data.message}`);
        case 'beat':
          return;
      }
    };
    port.onerror = (event) => {
      event.preventDefault();
      // A script that could not be fetched has no message.
      die(event.message ? `The worker failed: ${event.message}` : 'The worker could not be loaded.');
    };
    this.send({ type: 'start', options });
  }

  send(message: ToWorker): void {
    if (!this.#over) this.#port.postMessage(message);
  }

  end(): void {
    this.#over = true;
    clearInterval(this.#watch);
    this.#port.onmessage = null;
    this.#port.onerror = null;
    this.#port.terminate();
  }
}
