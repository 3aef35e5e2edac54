/**
 * A worker without a device, for tests of the protocol: its gradients are a fixed function of parameter version and
 * sample, so that any number of bots must make the same parameters as one. Faults are injected by its options.
 */
import {
  Random,
  encodeFrame,
  encodeVector,
  frameCount,
  gpt2Layout,
  limits,
  protocolVersion,
  type ContributionBegin,
  type ContributionReceipt,
  type HelloReply,
  type Notice,
  type Problem,
  type Reply,
  type ServerToWorker,
  type Task,
  type WorkerToServer,
} from '@tabweave/shared';
import { io, type Socket } from 'socket.io-client';

export type Decision = 'work' | 'drop' | 'leave';

export interface BotOptions {
  runId?: string | null;
  memoryBytes?: number;
  identity?: { workerId: string; secret: string };
  /** Called before a task is answered; `drop` leaves it unanswered, `leave` disconnects. */
  onTask?: (task: Task, bot: Bot) => Decision | Promise<Decision>;
  /** Changes what is sent. */
  tamper?: (begin: ContributionBegin, gradient: Float32Array) => void;
}

export interface Bot {
  socket: Socket<ServerToWorker, WorkerToServer>;
  hello: Reply<HelloReply>;
  notices: Notice[];
  receipts: Reply<ContributionReceipt>[];
  problems: Problem[];
  tasks: Task[];
  /** Sends a contribution for a task, as often as wanted. */
  contribute(task: Task): Promise<Reply<ContributionReceipt>>;
  stop(): void;
}

/** The gradient sum of samples [start, end) of a version, [elements]. */
export function botGradient(elements: number, version: number, start: number, end: number): Float32Array {
  const sum = new Float32Array(elements);
  for (let sample = start; sample < end; sample++) {
    const random = new Random(version * 7919 + sample);
    for (let i = 0; i < elements; i++) sum[i] = (sum[i] as number) + 0.1 * random.normal();
  }
  return sum;
}

export async function startBot(url: string, options: BotOptions = {}): Promise<Bot> {
  const socket: Socket<ServerToWorker, WorkerToServer> = io(`${url}/worker`, {
    transports: ['websocket'],
    reconnection: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('connect_error', reject);
  });
  const bot: Bot = {
    socket,
    hello: {
      ok: true,
      workerId: '',
      secret: '',
      acceptedSamples: 0,
      acceptedContributions: 0,
      refusedContributions: 0,
    },
    notices: [],
    receipts: [],
    problems: [],
    tasks: [],
    contribute: (task) => contribute(socket, task, options),
    stop: () => void socket.disconnect(),
  };
  socket.on('notice', (notice) => bot.notices.push(notice));
  socket.on('task', (task) => {
    bot.tasks.push(task);
    void (async () => {
      const decision = (await options.onTask?.(task, bot)) ?? 'work';
      if (decision === 'leave') socket.disconnect();
      if (decision !== 'work') return;
      const receipt = await bot.contribute(task);
      bot.receipts.push(receipt);
      if (!receipt.ok) bot.problems.push(receipt.problem);
    })().catch(() => undefined);
  });
  bot.hello = (await socket.timeout(5000).emitWithAck('hello', {
    protocol: protocolVersion,
    runId: options.runId ?? null,
    ...(options.identity ?? {}),
    device: {
      backend: 'cpu',
      environment: 'node',
      memoryBytes: options.memoryBytes ?? 1e9,
      maxBufferBytes: 1e9,
    },
    selfTest: { passed: true, milliseconds: 1, checks: [], switchedOff: [] },
  })) as Reply<HelloReply>;
  return bot;
}

async function contribute(
  socket: Socket<ServerToWorker, WorkerToServer>,
  task: Task,
  options: BotOptions,
): Promise<Reply<ContributionReceipt>> {
  const { start, end } = task.samples;
  const train = task.kind === 'train';
  const gradient = train
    ? botGradient(gpt2Layout(task.config).size, task.version, start, end)
    : new Float32Array(0);
  const begin: ContributionBegin = {
    lease: task.lease,
    samples: { start, end },
    lossSum: (end - start) * (2 + 1 / (task.version + 1)),
    encoding: task.gradientEncoding,
    bytes: 0,
    timings: { waitMilliseconds: 0, downloadMilliseconds: 1, computeMilliseconds: 5 * (end - start) },
    cold: false,
  };
  const encoded = (): Uint8Array =>
    train ? encodeVector(gradient, task.gradientEncoding) : new Uint8Array(0);
  begin.bytes = encoded().byteLength;
  options.tamper?.(begin, gradient);
  const bytes = encoded();
  const announced = (await socket.emitWithAck('contribution:begin', begin)) as Reply<object>;
  if (!announced.ok) return announced;
  const count = train ? frameCount(bytes.byteLength) : 0;
  for (let index = 0; index < count; index++) {
    const payload = bytes.subarray(index * limits.frameBytes, (index + 1) * limits.frameBytes);
    const reply = (await socket.emitWithAck(
      'frame',
      encodeFrame({ lease: task.lease, index, count, payload }),
    )) as Reply<object>;
    if (!reply.ok) return reply;
  }
  return (await socket.emitWithAck('contribution:end', {
    lease: task.lease,
    uploadMilliseconds: 1,
  })) as Reply<ContributionReceipt>;
}

/** Waits until `check` gives something other than false or undefined. */
export async function until<T>(
  check: () => T | false | undefined | Promise<T | false | undefined>,
  what: string,
): Promise<T> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const value = await check();
    if (value !== false && value !== undefined) return value;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
