/**
 * Keeps a socket to the server: connects, and after every loss connects again, for ever, with growing waits that the
 * host can show. It knows nothing of tasks.
 */
import type { ServerToWorker, WorkerToServer } from '@tabweave/shared';
import { io, type Socket } from 'socket.io-client';
import { backoffDelay, type Backoff } from '../backoff.ts';
import { Link, type Emitter } from './link.ts';

/** Why there is no connection: `ended` is the server's doing, `left` ours. */
export interface Loss {
  kind: 'unreachable' | 'broken' | 'ended' | 'left';
  detail: string;
}

export interface ConnectionListener {
  /** Connected: say hello on this link. */
  up(link: Link): void;
  /**
   * Not connected, or no more.
   * @param retryAt when the next attempt is made, epoch milliseconds.
   */
  down(loss: Loss, retryAt: number): void;
  /** A message from the server, unparsed. */
  message(event: keyof ServerToWorker, payload: unknown, link: Link): void;
}

const events: (keyof ServerToWorker)[] = ['task', 'task:cancel', 'notice', 'run'];

export class Connection {
  readonly #socket: Socket<ServerToWorker, WorkerToServer>;
  readonly #listener: ConnectionListener;
  readonly #backoff: Backoff;
  readonly #online = (): void => this.retryNow();
  #link: Link | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #attempt = 0;
  #closed = false;

  /** @param url the server's address; the namespace is added. */
  constructor(url: string, listener: ConnectionListener, backoff: Backoff) {
    this.#listener = listener;
    this.#backoff = backoff;
    this.#socket = io(`${url.replace(/\/+$/, '')}/worker`, {
      // WebSocket first; polling where a proxy lets nothing else through.
      transports: ['websocket', 'polling'],
      tryAllTransports: true,
      autoConnect: false,
      forceNew: true,
      // Ours, since socket.io's own does not tell when it tries next, and gives up when the server disconnects.
      reconnection: false,
      ...certificateOptions(),
    });
    this.#socket.on('connect', () => this.#connected());
    this.#socket.on('connect_error', (error) => this.#lost({ kind: 'unreachable', detail: error.message }));
    this.#socket.on('disconnect', (reason) =>
      this.#lost({ kind: reason === 'io server disconnect' ? 'ended' : 'broken', detail: reason }),
    );
    for (const event of events) {
      this.#socket.on(event, (payload: unknown) => {
        if (this.#link) listener.message(event, payload, this.#link);
      });
    }
  }

  open(): void {
    // In a page and in a dedicated worker; Node has no such event.
    globalThis.addEventListener?.('online', this.#online);
    this.#socket.connect();
  }

  /** Ends for good. */
  close(): void {
    this.#closed = true;
    globalThis.removeEventListener?.('online', this.#online);
    clearTimeout(this.#timer);
    this.#endLink();
    this.#socket.disconnect();
  }

  /** The session is established: the next loss starts again with a short wait. */
  settled(): void {
    this.#attempt = 0;
  }

  /** Leaves, and comes back after the next wait. */
  retryLater(detail: string): void {
    // The wait is set first, so that the disconnection is not taken for a loss of its own.
    this.#lost({ kind: 'left', detail });
    this.#socket.disconnect();
  }

  /** Ends a wait early: there is reason to think that it works now. */
  retryNow(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#socket.connect();
  }

  #connected(): void {
    this.#link = new Link(this.#socket as unknown as Emitter);
    this.#listener.up(this.#link);
  }

  #lost(loss: Loss): void {
    this.#endLink();
    if (this.#closed || this.#timer !== undefined) return;
    const delay = backoffDelay(this.#attempt++, this.#backoff);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#socket.connect();
    }, delay);
    this.#listener.down(loss, Date.now() + delay);
  }

  #endLink(): void {
    this.#link?.close();
    this.#link = null;
  }
}

/** In Node the client checks certificates whatever Node itself is told; in a browser there is nothing to choose. */
function certificateOptions(): { rejectUnauthorized?: boolean } {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? { rejectUnauthorized: false } : {};
}
