/** What every socket message passes through: rate, schema, and an answer whatever happens. */
import { ProblemError, limits, parseOrProblem, type Problem } from '@tabweave/shared';
import type { FastifyBaseLogger } from 'fastify';
import type { Socket } from 'socket.io';
import type { z } from 'zod';
import { TokenBucket } from './token-bucket.ts';

type Acknowledge = (reply: object) => void;

/** A sender this far over its rate is cut off instead of answered. */
const strikesBeforeCut = 200;

export class SocketGuard {
  readonly #socket: Socket;
  readonly #log: FastifyBaseLogger;
  readonly #bucket: TokenBucket;
  readonly #known = new Set<string>();
  #strikes = 0;

  constructor(socket: Socket, log: FastifyBaseLogger) {
    this.#socket = socket;
    this.#log = log;
    const { socketMessagesPerSecond, socketMessageBurst } = limits;
    this.#bucket = new TokenBucket(socketMessagesPerSecond, socketMessageBurst, performance.now());
    socket.onAny((event: string) => {
      // What nobody listens to is not answered, but counts.
      if (!this.#known.has(event)) this.#strike();
    });
  }

  /** Handles `event`: the payload is parsed by `schema`, the handler's result is acknowledged with `ok: true`. */
  on<S extends z.ZodType>(
    event: string,
    schema: S,
    handler: (payload: z.output<S>) => object | undefined | Promise<object | undefined>,
  ): void {
    this.#known.add(event);
    this.#socket.on(event, (...parameters: unknown[]) => {
      const last = parameters.at(-1);
      const acknowledge: Acknowledge =
        typeof last === 'function' ? (reply) => void (last as Acknowledge)(reply) : () => undefined;
      const payload = typeof parameters[0] === 'function' ? undefined : parameters[0];
      void this.#answer(event, schema, handler, payload).then(acknowledge);
    });
  }

  #strike(): void {
    if (++this.#strikes > strikesBeforeCut) this.#socket.disconnect(true);
  }

  async #answer<S extends z.ZodType>(
    event: string,
    schema: S,
    handler: (payload: z.output<S>) => object | undefined | Promise<object | undefined>,
    payload: unknown,
  ): Promise<{ ok: true } | { ok: false; problem: Problem }> {
    try {
      if (!this.#bucket.take(performance.now())) {
        this.#strike();
        throw new ProblemError('TOO_MANY', 'Too many messages; slow down.');
      }
      const result = await handler(parseOrProblem(schema, payload, `The message "${event}"`));
      return { ok: true, ...result };
    } catch (error) {
      if (error instanceof ProblemError) return { ok: false, problem: error.toProblem() };
      this.#log.error({ event, err: error }, 'a socket message failed');
      const problem = new ProblemError(
        'INTERNAL',
        'The server failed on this message; nothing accepted was lost.',
      );
      return { ok: false, problem: problem.toProblem() };
    }
  }
}
