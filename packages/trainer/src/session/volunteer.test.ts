import { createHash } from 'node:crypto';
import { ProblemError, encodeVector, limits, type Gpt2Config } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { ArithmeticEngine, arithmeticGradient, arithmeticLoss } from './testing/arithmetic-engine.ts';
import { ProtocolServer, until } from './testing/protocol-server.ts';
import { gate, startSession } from './testing/session.ts';
import { blockSize, makeTask, parametersOf, stream, tinyConfig, trainingRows } from './testing/tasks.ts';

const row = blockSize + 1;
/** 1.03 million parameters: 16 frames as float32. */
const wideConfig: Gpt2Config = { ...tinyConfig, vocabSize: 8000, width: 128, inner: 64 };

const refusal = (code: ConstructorParameters<typeof ProblemError>[0], detail: string): object => ({
  ok: false,
  problem: new ProblemError(code, detail).toProblem(),
});

test('a training task is downloaded, computed in passes, and sent as the exact gradient sum', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  const task = makeTask(server, { lease: 41, version: 3 });
  server.lease(task);
  const state = await until(
    () => session.state().acceptedContributions === 1 && session.state(),
    'a receipt',
  );

  const rows = trainingRows(task);
  const [begin] = server.of('contribution:begin');
  expect(begin).toMatchObject({ lease: 41, samples: { start: 2, end: 7 }, encoding: 'float32', cold: true });
  expect(begin.lossSum).toBeCloseTo(arithmeticLoss(rows, row), 4);
  const expected = arithmeticGradient(parametersOf(tinyConfig, 3), rows, row);
  const sent = new Float32Array(new Uint8Array(server.assembled(41)).buffer);
  // Passes are added one to another, the reference row by row: equal within float32 summation.
  expect(Math.max(...sent.map((value, i) => Math.abs(value - (expected[i] as number))))).toBeLessThan(1e-5);
  expect(sent.length).toBe(expected.length);
  // Five samples by two.
  expect(session.engine.passes).toBe(3);
  expect(server.sequence()).toEqual(['hello', 'contribution:begin', 'frame', 'contribution:end']);
  expect(state).toMatchObject({ acceptedSamples: 105, bytesUp: 4 * expected.length, problem: null });
  expect(state.bytesDown).toBe(4 * expected.length + 2 * stream.length);
});

test('an evaluation is answered with its loss and no bytes', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 5, kind: 'evaluate', samples: { start: 1, end: 3 } }));
  await until(() => server.of('contribution:end').length === 1, 'the end');
  // 100 tokens of validation are 12 windows; sample i of 4 begins at window 3 i.
  const rows = [3, 6].flatMap((window) => [...stream.subarray(900 + 8 * window, 900 + 8 * window + 9)]);
  const [begin] = server.of('contribution:begin');
  expect(begin.bytes).toBe(0);
  expect(begin.lossSum).toBeCloseTo(arithmeticLoss(Int32Array.from(rows), row), 6);
  expect(server.of('frame')).toEqual([]);
});

test('parameters that are held already are not fetched or loaded again', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  for (const [lease, version] of [
    [1, 0],
    [2, 0],
    [3, 1],
  ] as const) {
    server.lease(makeTask(server, { lease, version }));
    await until(() => server.of('contribution:end').length === lease, 'the end');
  }
  // Two shards, two versions.
  expect(server.requests).toHaveLength(4);
  expect(session.engine.loads).toBe(2);
});

test('float16 parameters are what the engine computes with', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  const task = makeTask(server, { lease: 1, parameterEncoding: 'float16', samples: { start: 0, end: 1 } });
  server.lease(task);
  await until(() => server.of('contribution:end').length === 1, 'the end');
  const rounded = parametersOf(tinyConfig, 0).map((value) => Math.f16round(value));
  const sent = new Uint8Array(server.assembled(1));
  expect(sent).toEqual(encodeVector(arithmeticGradient(rounded, trainingRows(task), row), 'float32'));
});

test('never more frames on the way than the protocol allows, and all of them arrive whole', async () => {
  await using server = await ProtocolServer.start();
  const held: (() => void)[] = [];
  let most = 0;
  server.answers.frame = () =>
    new Promise((resolve) => {
      held.push(() => resolve({ ok: true }));
      most = Math.max(most, held.length);
    });
  await using session = startSession(server.url);
  await session.phase('waiting');
  const task = makeTask(server, { lease: 7, config: wideConfig, samples: { start: 0, end: 1 } });
  server.lease(task);
  let seen = -1;
  while (server.of('contribution:end').length === 0) {
    // Acknowledged only when no more come: whatever the sender dares to have on the way is on the way then.
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (held.length === seen) for (const answer of held.splice(0)) answer();
    seen = held.length;
  }
  expect(most).toBe(limits.framesInFlight);
  const expected = arithmeticGradient(parametersOf(wideConfig, 0), trainingRows(task), row);
  const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  expect(server.frames(7)).toHaveLength(Math.ceil((4 * expected.length) / limits.frameBytes));
  expect(hash(server.assembled(7))).toBe(hash(encodeVector(expected, 'float32')));
});

test('a frame that came too fast is sent again', async () => {
  await using server = await ProtocolServer.start();
  let refused = false;
  server.answers.frame = () => {
    if (refused) return { ok: true };
    refused = true;
    return refusal('TOO_MANY', 'Too many messages; slow down.');
  };
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  expect(server.frames(7).map(({ index }) => index)).toEqual([0, 0]);
});

test('a connection lost in the middle of an upload ends it: nothing of the lease is sent on the next one', async () => {
  await using server = await ProtocolServer.start();
  let frames = 0;
  server.answers.frame = (_payload, connection) => {
    if (connection > 1 || ++frames < 3) return { ok: true };
    server.cut();
    return undefined;
  };
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7, config: wideConfig }));
  await until(() => server.connections === 2 && server.connected, 'the second connection');
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 8, version: 1 }));
  await until(() => session.state().acceptedContributions === 1, 'a receipt');

  expect(server.sequence(2)).toEqual(['hello', 'contribution:begin', 'frame', 'contribution:end']);
  expect(server.frames(7).length).toBeLessThan(16);
  const [, second] = server.of('hello');
  expect(second).toMatchObject({ workerId: 'worker1', secret: 'secret' });
  expect(session.identities).toEqual([{ workerId: 'worker1', secret: 'secret' }]);
  const [, after] = server.of('contribution:begin');
  expect(after.lease).toBe(8);
});

test('what comes damaged is fetched again, and never computed with', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.damaged = 3;
  const task = makeTask(server, { lease: 7, samples: { start: 0, end: 1 } });
  server.lease(task);
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  // Parameters and the shards that the sample touches, and three repetitions.
  expect(server.requests.length - new Set(server.requests).size).toBe(3);
  expect(session.state().log.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/failed: what arrived has another SHA-256/),
  );
  const expected = arithmeticGradient(parametersOf(tinyConfig, 0), trainingRows(task), row);
  expect(new Uint8Array(server.assembled(7))).toEqual(encodeVector(expected, 'float32'));
});

test('a file that is not there is reported at once, one that stays damaged after six attempts', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  const gone = makeTask(server, { lease: 7 });
  server.lease({ ...gone, parameters: { ...gone.parameters, url: '/blobs/none' } });
  const [missing] = await until(
    () => server.of('task:failed').length === 1 && server.of('task:failed'),
    'it',
  );
  expect(missing).toMatchObject({ lease: 7, reason: 'download' });
  expect(missing.message).toContain('the server answered 404');
  expect(server.requests.filter((path) => path === '/blobs/none')).toHaveLength(1);

  server.damaged = Infinity;
  const task = makeTask(server, { lease: 8, version: 1 });
  server.lease(task);
  const [, damaged] = await until(
    () => server.of('task:failed').length === 2 && server.of('task:failed'),
    'the second failure',
  );
  expect(damaged).toMatchObject({ lease: 8, reason: 'download' });
  expect(server.requests.filter((path) => path === task.parameters.url)).toHaveLength(6);
  expect(server.of('contribution:begin')).toEqual([]);
});

test('a cancelled task stops after the pass that runs, and the next one is computed from the beginning', async () => {
  await using server = await ProtocolServer.start();
  const second = gate();
  const engine = new ArithmeticEngine({ onPass: (pass) => (pass === 2 ? second.passed : undefined) });
  await using session = startSession(server.url, engine);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7, passSize: 1 }));
  await until(() => engine.passes === 2, 'the second pass');
  server.send('task:cancel', { lease: 7, reason: 'done by someone else' });
  await until(() => session.state().log[0]?.text.includes('done by someone else'), 'the cancellation');
  const task = makeTask(server, { lease: 8, version: 1, passSize: 5 });
  server.lease(task);
  second.open();
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  expect(engine.passes).toBe(3);
  expect(server.sequence()).toEqual(['hello', 'contribution:begin', 'frame', 'contribution:end']);
  const expected = arithmeticGradient(parametersOf(tinyConfig, 1), trainingRows(task), row);
  expect(new Uint8Array(server.assembled(8))).toEqual(encodeVector(expected, 'float32'));
});

test('pausing gives the task back, keeps the connection, and takes no other', async () => {
  await using server = await ProtocolServer.start();
  const first = gate();
  const engine = new ArithmeticEngine({ onPass: (pass) => (pass === 1 ? first.passed : undefined) });
  await using session = startSession(server.url, engine);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => engine.passes === 1, 'the first pass');
  session.volunteer.pause('on battery');
  expect(session.state()).toMatchObject({ phase: 'paused', message: 'on battery' });
  first.open();
  await until(() => server.of('task:failed').length === 1, 'the task given back');
  server.lease(makeTask(server, { lease: 8 }));
  await until(() => server.of('task:failed').length === 2, 'the second task given back');
  // The server must know of the pause before the task comes back, or it would lease the next one at once.
  expect(server.sequence()).toEqual(['hello', 'status', 'task:failed', 'task:failed']);
  expect(server.of('status')).toEqual([{ state: 'paused', reason: 'on battery' }]);
  expect(server.of('task:failed').map(({ lease, reason }) => [lease, reason])).toEqual([
    [7, 'cancelled'],
    [8, 'cancelled'],
  ]);
  expect([session.state().phase, server.connected, engine.passes]).toEqual(['paused', true, 1]);

  session.volunteer.resume();
  server.lease(makeTask(server, { lease: 9 }));
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  expect(server.of('status').at(-1)).toEqual({ state: 'ready', reason: '' });
  expect(server.connections).toBe(1);
});

test('a pause while the result is being sent lets it arrive', async () => {
  await using server = await ProtocolServer.start();
  const announced = gate();
  server.answers['contribution:begin'] = () => announced.passed.then(() => ({ ok: true }));
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => server.of('contribution:begin').length === 1, 'the announcement');
  session.volunteer.pause('snoozed');
  announced.open();
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  expect(session.state().phase).toBe('paused');
  expect(server.of('task:failed')).toEqual([]);
});

test('a pause outlives a reconnection', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  session.volunteer.pause('snoozed');
  await until(() => server.of('status').length === 1, 'the first status');
  server.cut();
  await until(() => server.of('status').length === 2, 'the second status');
  expect(server.sequence(2)).toEqual(['hello', 'status']);
  expect(session.state()).toMatchObject({ phase: 'paused', message: 'snoozed', retryAt: null });
});

test('finishing completes the present task, takes no other, and leaves', async () => {
  await using server = await ProtocolServer.start();
  const first = gate();
  const engine = new ArithmeticEngine({ onPass: (pass) => (pass === 1 ? first.passed : undefined) });
  await using session = startSession(server.url, engine);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => engine.passes === 1, 'the first pass');
  const finished = session.volunteer.finish();
  expect(session.state().phase).toBe('finishing');
  server.lease(makeTask(server, { lease: 8 }));
  first.open();
  await finished;
  await until(() => !server.connected, 'the end of the connection');
  expect(server.of('status')).toEqual([{ state: 'finishing', reason: '' }]);
  expect(server.of('contribution:end').map(({ lease }) => lease)).toEqual([7]);
  expect(session.state()).toMatchObject({ phase: 'stopped', acceptedContributions: 1 });
  expect(engine.disposed).toBe(true);
});

test('stopping sends nothing more, and frees the engine only when its pass has ended', async () => {
  await using server = await ProtocolServer.start();
  const first = gate();
  const engine = new ArithmeticEngine({ onPass: () => first.passed });
  await using session = startSession(server.url, engine);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => engine.passes === 1, 'the first pass');
  const stopped = session.volunteer.stop();
  await until(() => !server.connected, 'the end of the connection');
  expect([session.state().phase, engine.disposed]).toEqual(['stopped', false]);
  first.open();
  await stopped;
  expect(engine.disposed).toBe(true);
  expect(server.sequence()).toEqual(['hello']);
  expect(session.state().phase).toBe('stopped');
});
