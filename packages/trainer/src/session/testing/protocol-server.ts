/**
 * A server that speaks the worker protocol and decides nothing: tests say what it leases and how it answers, and read
 * what came. Real HTTP, real socket.io (the server's own copy of it).
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import {
  decodeFrame,
  type Frame,
  type ServerToWorker,
  type Task,
  type WorkerToServer,
} from '@tabweave/shared';

type Event = keyof WorkerToServer;

export interface Received {
  event: Event;
  payload: any;
  /** Which connection it came on: 1 for the first. */
  connection: number;
}

/** `undefined` leaves the message unanswered. */
export type Answer = object | undefined;

const serverRequire = createRequire(new URL('../../../../../apps/server/package.json', import.meta.url));
const { Server: SocketServer } = serverRequire('socket.io');

const events: Event[] = [
  'hello',
  'task:progress',
  'task:failed',
  'contribution:begin',
  'frame',
  'contribution:end',
  'status',
];

export class ProtocolServer implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Paths of the HTTP requests, in order. */
  readonly requests: string[] = [];
  /** Bodies of this many next blobs arrive with one bit changed. */
  damaged = 0;
  /** Answers to messages; what is missing is answered with `{ok: true}`, `hello` with an identity. */
  answers: Partial<Record<Event, (payload: any, connection: number) => Answer | Promise<Answer>>> = {};
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #http: Server;
  readonly #io: any;
  #connections = 0;
  #current: any = null;

  private constructor() {
    this.#http = createServer((request, response) => {
      const path = request.url ?? '';
      this.requests.push(path);
      const blob = this.#blobs.get(path);
      if (!blob) {
        response.writeHead(404).end();
        return;
      }
      const body = Buffer.from(blob);
      if (this.damaged > 0) {
        this.damaged--;
        body[body.length >> 1] = (body[body.length >> 1] as number) ^ 1;
      }
      response.writeHead(200, { 'content-length': body.length }).end(body);
    });
    this.#io = new SocketServer(this.#http, { serveClient: false });
    this.#io.of('/worker').on('connection', (socket: any) => this.#accept(socket));
  }

  static async start(port = 0): Promise<ProtocolServer> {
    const server = new ProtocolServer();
    server.#http.listen(port, '127.0.0.1');
    await once(server.#http, 'listening');
    return server;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Connections so far. */
  get connections(): number {
    return this.#connections;
  }

  get connected(): boolean {
    return this.#current?.connected === true;
  }

  /** Makes `bytes` available, as the real server does: by hash. */
  serve(bytes: Uint8Array): { url: string; hash: string; bytes: number } {
    const hash = createHash('sha256').update(bytes).digest('hex');
    this.#blobs.set(`/blobs/${hash}`, bytes);
    return { url: `/blobs/${hash}`, hash, bytes: bytes.byteLength };
  }

  send<E extends keyof ServerToWorker>(event: E, ...payload: Parameters<ServerToWorker[E]>): void {
    this.#current.emit(event, ...payload);
  }

  lease(task: Task): void {
    this.send('task', task);
  }

  /** Cuts the line, without a word. */
  cut(): void {
    this.#current.conn.close();
  }

  /** Ends the connection on purpose. */
  dismiss(): void {
    this.#current.disconnect(true);
  }

  of(event: Event): any[] {
    return this.received.filter((message) => message.event === event).map(({ payload }) => payload);
  }

  /** Events in order of arrival; progress left out, since it depends on time. */
  sequence(connection?: number): Event[] {
    return this.received
      .filter((message) => message.event !== 'task:progress')
      .filter((message) => connection === undefined || message.connection === connection)
      .map(({ event }) => event);
  }

  frames(lease: number): Frame[] {
    return this.of('frame')
      .map((bytes: Uint8Array) => decodeFrame(new Uint8Array(bytes)))
      .filter((frame) => frame.lease === lease);
  }

  /** The vector that the frames of a lease make, each index once. */
  assembled(lease: number): Uint8Array {
    const frames = this.frames(lease).sort((a, b) => a.index - b.index);
    return Buffer.concat(frames.map(({ payload }) => payload));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#io.close();
  }

  #accept(socket: any): void {
    const connection = ++this.#connections;
    this.#current = socket;
    for (const event of events) {
      socket.on(event, (payload: any, acknowledge?: (reply: object) => void) => {
        this.received.push({ event, payload, connection });
        void Promise.resolve(this.#answer(event, payload, connection)).then((reply) => {
          if (reply !== undefined) acknowledge?.(reply);
        });
      });
    }
  }

  #answer(event: Event, payload: any, connection: number): Answer | Promise<Answer> {
    const answer = this.answers[event];
    if (answer) return answer(payload, connection);
    if (event === 'hello')
      return {
        ok: true,
        workerId: 'worker1',
        secret: 'secret',
        acceptedSamples: 0,
        acceptedContributions: 0,
        refusedContributions: 0,
      };
    if (event !== 'contribution:end') return { ok: true };
    const samples = this.of('contribution:begin').find(({ lease }) => lease === payload.lease)?.samples;
    const accepted = samples.end - samples.start;
    const totalContributions = this.of('contribution:end').length;
    return { ok: true, acceptedSamples: accepted, totalSamples: 100 + accepted, totalContributions };
  }
}

/** Waits until `check` gives something other than false, null or undefined. */
export async function until<T>(check: () => T | false | null | undefined, what: string): Promise<T> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const value = check();
    if (value !== false && value !== null && value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
