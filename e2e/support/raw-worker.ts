/**
 * A worker that speaks the protocol and nothing more: no engine, no retries. Its gradients are made up, so that a
 * test can say exactly what the parameters must be, and it can be as dishonest as the test wants.
 */
import {
  encodeFrame,
  encodeVector,
  frameCount,
  gpt2Layout,
  limits,
  protocolVersion,
  type ContributionBegin,
  type Hello,
  type HelloReply,
  type Reply,
  type Task,
} from '@tabweave/shared';
import { io, type Socket } from 'socket.io-client';

const hello: Hello = {
  protocol: protocolVersion,
  runId: null,
  name: 'raw',
  device: {
    backend: 'cpu',
    environment: 'node',
    memoryBytes: 2 ** 31,
    maxBufferBytes: 2 ** 30,
  },
  selfTest: { passed: true, milliseconds: 1, checks: [], switchedOff: [] },
};

const answerWithinMilliseconds = 10_000;

export class RawWorker {
  readonly socket: Socket;
  readonly #tasks: Task[] = [];
  readonly #waiting: ((task: Task) => void)[] = [];

  private constructor(url: string) {
    this.socket = io(`${url}/worker`, { transports: ['websocket'], reconnection: false, forceNew: true });
    this.socket.on('task', (task: Task) => {
      const waiting = this.#waiting.shift();
      if (waiting) waiting(task);
      else this.#tasks.push(task);
    });
  }

  /** Connects without a word. */
  static async connect(url: string): Promise<RawWorker> {
    const worker = new RawWorker(url);
    await new Promise<void>((resolve, reject) => {
      worker.socket.once('connect', () => resolve());
      worker.socket.once('connect_error', reject);
    });
    return worker;
  }

  /** Connects and says hello as an able worker. */
  static async join(url: string, runId: string): Promise<RawWorker> {
    const worker = await RawWorker.connect(url);
    const reply = await worker.send<HelloReply>('hello', { ...hello, runId });
    if (!reply.ok) throw new Error(`hello was refused: ${reply.problem.detail}`);
    return worker;
  }

  /** Sends any event with any payload, and waits for the acknowledgement. */
  send<T = object>(event: string, payload: unknown): Promise<Reply<T>> {
    return this.socket.timeout(answerWithinMilliseconds).emitWithAck(event, payload) as Promise<Reply<T>>;
  }

  /** The next task, whenever it comes. */
  nextTask(): Promise<Task> {
    const task = this.#tasks.shift();
    return task ? Promise.resolve(task) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  begin(task: Task, change: Partial<Record<keyof ContributionBegin, unknown>> = {}): Promise<Reply<object>> {
    const count = task.samples.end - task.samples.start;
    return this.send('contribution:begin', {
      lease: task.lease,
      samples: task.samples,
      lossSum: count * 2,
      encoding: 'float32',
      bytes: task.kind === 'train' ? 4 * gpt2Layout(task.config).size : 0,
      timings: { waitMilliseconds: 0, downloadMilliseconds: 0, computeMilliseconds: 10 },
      cold: false,
      ...change,
    });
  }

  /** Sends every frame of `gradient`, one after the other; the first refusal is returned. */
  async upload(task: Task, gradient: Float32Array): Promise<Reply<object>> {
    const bytes = encodeVector(gradient, 'float32');
    const count = frameCount(bytes.byteLength);
    for (let index = 0; index < count; index++) {
      const payload = bytes.subarray(index * limits.frameBytes, (index + 1) * limits.frameBytes);
      const reply = await this.send('frame', encodeFrame({ lease: task.lease, index, count, payload }));
      if (!reply.ok) return reply;
    }
    return { ok: true };
  }

  end(task: Task): Promise<Reply<object>> {
    return this.send('contribution:end', { lease: task.lease, uploadMilliseconds: 1 });
  }

  /** A whole contribution; the first refusal is returned. */
  async contribute(task: Task, gradient: Float32Array = exactGradient(task)): Promise<Reply<object>> {
    const begun = await this.begin(task);
    if (!begun.ok) return begun;
    if (task.kind === 'train') {
      const sent = await this.upload(task, gradient);
      if (!sent.ok) return sent;
    }
    return this.end(task);
  }

  /** Does every task that comes, honestly, until the socket closes. Work that is no longer wanted is dropped. */
  async work(): Promise<void> {
    const closed = new Promise<null>((resolve) => this.socket.once('disconnect', () => resolve(null)));
    for (;;) {
      const task = await Promise.race([this.nextTask(), closed]);
      if (task === null) return;
      await this.contribute(task).catch((error: unknown) => {
        if (this.socket.connected) throw error;
      });
    }
  }

  close(): void {
    this.socket.disconnect();
  }
}

/**
 * A gradient sum that is the same however a step is split: each sample's part is a vector of small multiples of
 * 2^-8 given by its index and the version, so that float32 sums of them are exact in any order.
 */
export function exactGradient(task: Task): Float32Array {
  const { size } = gpt2Layout(task.config);
  const sum = new Float32Array(size);
  for (let sample = task.samples.start; sample < task.samples.end; sample++) {
    for (let i = 0; i < size; i++) {
      const level = ((Math.imul(i + 1, 2654435761) ^ Math.imul(sample + 7 * task.version, 40503)) >>> 8) % 9;
      sum[i] = (sum[i] as number) + (level - 4) / 256;
    }
  }
  return sum;
}
