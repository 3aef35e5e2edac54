/**
 * One established connection, from connect to disconnect. Whatever belongs to it (a lease, an upload) speaks through
 * its link, so nothing of it can reach the server on a later connection: a dead link sends nothing, and nothing is
 * buffered for later.
 */
import { problemReplySchema, type Reply, type WorkerToServer } from '@tabweave/shared';
import { Refused, TaskDropped } from '../failure.ts';

type Event = keyof WorkerToServer;
type Payload<E extends Event> = Parameters<WorkerToServer[E]>[0];
type Acknowledgement<E extends Event> =
  Parameters<WorkerToServer[E]> extends [unknown, (reply: infer R) => void] ? R : never;
type Success<R> = Extract<R, { ok: true }>;

/** What a link needs of a socket.io socket. */
export interface Emitter {
  readonly connected: boolean;
  readonly volatile: { emit(event: string, payload: unknown): unknown };
  timeout(milliseconds: number): { emitWithAck(event: string, payload: unknown): Promise<unknown> };
}

export class ConnectionLost extends TaskDropped {
  constructor() {
    super('The connection to the server was lost.');
    this.name = 'ConnectionLost';
  }
}

export class Unanswered extends Error {
  constructor(event: string, milliseconds: number) {
    super(`The server did not answer "${event}" within ${Math.round(milliseconds / 1000)} s.`);
    this.name = 'Unanswered';
  }
}

export class Link {
  readonly #socket: Emitter;
  #ended = false;

  constructor(socket: Emitter) {
    this.#socket = socket;
  }

  get alive(): boolean {
    return !this.#ended && this.#socket.connected;
  }

  close(): void {
    this.#ended = true;
  }

  /**
   * Sends a message and waits for its acknowledgement.
   * @throws Refused when the server answered with a problem, ConnectionLost, or Unanswered.
   */
  async ask<E extends Exclude<Event, 'task:progress'>>(
    event: E,
    payload: Payload<E>,
    milliseconds: number,
  ): Promise<Success<Acknowledgement<E>>> {
    if (!this.alive) throw new ConnectionLost();
    let reply: unknown;
    try {
      reply = await this.#socket.timeout(milliseconds).emitWithAck(event, payload);
    } catch {
      if (!this.alive) throw new ConnectionLost();
      throw new Unanswered(event, milliseconds);
    }
    const refusal = problemReplySchema.safeParse(reply);
    if (refusal.success) throw new Refused(refusal.data.problem);
    if ((reply as Reply<object> | undefined)?.ok !== true) {
      throw new Error(`The server's answer to "${event}" is not of this protocol.`);
    }
    return reply as Success<Acknowledgement<E>>;
  }

  /** Sends without waiting; dropped, not kept, where the transport cannot take it now. */
  tell(event: 'task:progress', payload: Payload<'task:progress'>): void {
    if (this.alive) this.#socket.volatile.emit(event, payload);
  }
}
