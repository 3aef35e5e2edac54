/**
 * Workers that send what they should not. The run beside them must end with the very parameters, bit for bit, that
 * it has without them: refused means refused, and every sample still counts once.
 */
import {
  encodeFrame,
  gpt2Layout,
  protocolVersion,
  type HelloReply,
  type ProblemCode,
  type Reply,
  type Run,
  type Task,
} from '@tabweave/shared';
import type { ApiClient } from './support/api-client.ts';
import { expect, test } from './support/fixtures.ts';
import { RawWorker, exactGradient } from './support/raw-worker.ts';

const maxSteps = 6;

async function startRun(api: ApiClient): Promise<Run> {
  const run = await api.createRun({
    text: 'the cat sat on the mat and the dog sat on the log. '.repeat(30),
    config: { n_layer: 1, n_head: 2, n_embd: 16, n_positions: 16 },
    recipe: { blockSize: 16, globalBatch: 8, maxSteps, evaluateEvery: 0, learningRate: 0.01 },
    strategy: { batchPolicy: 'equal' },
  });
  return api.act(run.id, 'start');
}

function codeOf(reply: Reply<object>): ProblemCode | 'ok' {
  return reply.ok ? 'ok' : reply.problem.code;
}

async function finish(api: ApiClient, run: Run): Promise<Run> {
  return api.until(run.id, 'the end of the run', ({ status }) => status === 'finished');
}

let clean: Run;

test.beforeAll(async ({ api, server }) => {
  const run = await startRun(api);
  const honest = await RawWorker.join(server.url, run.id);
  const working = honest.work();
  clean = await finish(api, run);
  honest.close();
  await working;
});

test('the clean run is one that a wrong contribution would change', async ({ api }) => {
  expect(clean.step).toBe(maxSteps);
  expect(clean.parametersHash).toMatch(/^[0-9a-f]{64}$/);
  const points = await api.points(clean.id);
  expect(points.map((point) => [point.step, point.samples])).toEqual(
    Array.from({ length: maxSteps }, (_, i) => [i + 1, 8]),
  );
  expect(points.every((point) => point.gradientNorm > 0)).toBe(true);
});

/** What a hostile worker does with one task, and the codes that it must be answered with. */
const hostile: { what: string; does: (worker: RawWorker, task: Task) => Promise<void> }[] = [
  {
    what: 'a NaN among the values',
    does: async (worker, task) => {
      const gradient = exactGradient(task);
      gradient[gradient.length - 1] = NaN;
      expect(codeOf(await worker.contribute(task, gradient))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'an infinity among the values',
    does: async (worker, task) => {
      const gradient = exactGradient(task);
      gradient[0] = -Infinity;
      expect(codeOf(await worker.contribute(task, gradient))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'a loss that is no loss',
    does: async (worker, task) => {
      expect(codeOf(await worker.begin(task, { lossSum: null }))).toBe('INVALID_INPUT');
      expect(codeOf(await worker.begin(task, { lossSum: -5 }))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'the wrong size, announced and sent',
    does: async (worker, task) => {
      const { size } = gpt2Layout(task.config);
      expect(codeOf(await worker.begin(task, { bytes: 4 * size + 4 }))).toBe('INVALID_CONTRIBUTION');
      expect(codeOf(await worker.begin(task))).toBe('ok');
      expect(codeOf(await worker.upload(task, new Float32Array(size - 1)))).toBe('INVALID_CONTRIBUTION');
      expect(codeOf(await worker.end(task))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'an upload with a frame missing',
    does: async (worker, task) => {
      expect(codeOf(await worker.begin(task))).toBe('ok');
      expect(codeOf(await worker.end(task))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'a frame that was damaged on the way',
    does: async (worker, task) => {
      expect(codeOf(await worker.begin(task))).toBe('ok');
      const payload = new Uint8Array(exactGradient(task).buffer as ArrayBuffer);
      const frame = encodeFrame({ lease: task.lease, index: 0, count: 1, payload });
      frame[frame.length - 1] = (frame[frame.length - 1] as number) ^ 1;
      expect(codeOf(await worker.send('frame', frame))).toBe('INVALID_INPUT');
      expect(codeOf(await worker.end(task))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'samples that it was not given',
    does: async (worker, task) => {
      const samples = { start: task.samples.start, end: task.samples.end - 1 };
      expect(codeOf(await worker.begin(task, { samples }))).toBe('INVALID_CONTRIBUTION');
    },
  },
  {
    what: 'a lease of someone else',
    does: async (worker, task) => {
      expect(codeOf(await worker.begin({ ...task, lease: task.lease + 1 }))).toBe('LEASE_EXPIRED');
      expect(codeOf(await worker.begin({ ...task, lease: task.lease - 1 }))).toBe('LEASE_EXPIRED');
    },
  },
  {
    what: 'the same contribution twice',
    does: async (worker, task) => {
      expect(codeOf(await worker.contribute(task))).toBe('ok');
      expect(codeOf(await worker.contribute(task))).toMatch(/^(LEASE_EXPIRED|DUPLICATE)$/);
      expect(codeOf(await worker.end(task))).toBe('CONFLICT');
    },
  },
];

for (const { what, does } of hostile) {
  test(`${what}: the parameters are those of the clean run`, async ({ api, server }) => {
    const run = await startRun(api);
    const hostileWorker = await RawWorker.join(server.url, run.id);
    const task = await hostileWorker.nextTask();
    const honest = await RawWorker.join(server.url, run.id);
    const working = honest.work();
    await does(hostileWorker, task);
    // Whatever it still holds goes to the honest one now.
    hostileWorker.close();
    const finished = await finish(api, run);
    honest.close();
    await working;
    expect(finished.parametersHash).toBe(clean.parametersHash);
  });
}

test('work that comes after its lease was given away does not count', async ({ api, server }) => {
  const run = await startRun(api);
  const slow = await RawWorker.join(server.url, run.id);
  const task = await slow.nextTask();
  await slow.send('task:failed', { lease: task.lease, reason: 'internal', message: 'test' });
  const honest = await RawWorker.join(server.url, run.id);
  const working = honest.work();
  expect(codeOf(await slow.contribute(task))).toBe('LEASE_EXPIRED');
  slow.close();
  expect((await finish(api, run)).parametersHash).toBe(clean.parametersHash);
  honest.close();
  await working;
});

test('nonsense on the socket is answered as a problem, and the server goes on', async ({ api, server }) => {
  const worker = await RawWorker.connect(server.url);
  const nonsense: [string, unknown, ProblemCode][] = [
    ['task:failed', { lease: 1, reason: 'internal', message: '' }, 'CONFLICT'],
    ['hello', {}, 'INVALID_INPUT'],
    ['hello', null, 'INVALID_INPUT'],
    ['hello', { __proto__: { protocol: protocolVersion }, constructor: { prototype: 1 } }, 'INVALID_INPUT'],
    ['frame', 'not binary', 'INVALID_INPUT'],
    ['frame', new Uint8Array(10), 'CONFLICT'],
    ['contribution:begin', [[[[]]]], 'INVALID_INPUT'],
    ['contribution:end', { lease: -1, uploadMilliseconds: 1e400 }, 'INVALID_INPUT'],
    ['status', { state: 'x'.repeat(10_000) }, 'INVALID_INPUT'],
  ];
  for (const [event, payload, code] of nonsense) {
    expect(codeOf(await worker.send(event, payload)), `${event} ${JSON.stringify(payload)}`).toBe(code);
  }
  worker.close();
  expect((await api.run(clean.id)).parametersHash).toBe(clean.parametersHash);
});

test('another protocol version is told to reload', async ({ server }) => {
  const worker = await RawWorker.connect(server.url);
  const device = { backend: 'cpu', environment: 'node', memoryBytes: 1, maxBufferBytes: 1 };
  const selfTest = { passed: true, milliseconds: 0, checks: [], switchedOff: [] };
  const reply = await worker.send<HelloReply>('hello', { protocol: protocolVersion + 1, device, selfTest });
  expect(reply).toMatchObject({ ok: false, problem: { code: 'PROTOCOL_MISMATCH' } });
  expect(reply.ok ? '' : reply.problem.detail).toMatch(/reload/i);
  worker.close();
});

test('a message over the limit ends the connection, not the server', async ({ api, server }) => {
  const worker = await RawWorker.connect(server.url);
  const closed = new Promise((resolve) => worker.socket.once('disconnect', resolve));
  worker.socket.emit('frame', new Uint8Array(2 * 1024 * 1024));
  await closed;
  expect((await api.run(clean.id)).parametersHash).toBe(clean.parametersHash);
});

test('a socket from a page of another origin is refused', async ({ server }) => {
  const { io } = await import('socket.io-client');
  const socket = io(`${server.url}/worker`, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
    extraHeaders: { origin: 'https://evil.example' },
  });
  const outcome = await new Promise((resolve) => {
    socket.once('connect', () => resolve('connected'));
    socket.once('connect_error', () => resolve('refused'));
  });
  socket.disconnect();
  expect(outcome).toBe('refused');
});
