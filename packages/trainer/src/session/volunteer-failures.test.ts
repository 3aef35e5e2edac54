import { ProblemError, decodeVector } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { EngineError } from '../engine/engine.ts';
import { ArithmeticEngine, arithmeticGradient } from './testing/arithmetic-engine.ts';
import { ProtocolServer, until } from './testing/protocol-server.ts';
import { gate, startSession } from './testing/session.ts';
import { blockSize, makeTask, parametersOf, tinyConfig, trainingRows } from './testing/tasks.ts';

const refusal = (code: ConstructorParameters<typeof ProblemError>[0], detail: string): object => ({
  ok: false,
  problem: new ProblemError(code, detail).toProblem(),
});

test('results that are not finite are reported and never sent', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url, new ArithmeticEngine({ scale: 3e38 }));
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => server.of('task:failed').length === 1, 'the failure');
  expect(server.of('task:failed')[0]).toMatchObject({ lease: 7, reason: 'non-finite' });
  expect(server.of('contribution:begin')).toEqual([]);
  await session.phase('waiting');
});

test('a device that is lost while it computes is reported, and ends the session as failed', async () => {
  await using server = await ProtocolServer.start();
  const never = gate();
  const engine = new ArithmeticEngine({ onPass: () => never.passed });
  await using session = startSession(server.url, engine);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => engine.passes === 1, 'the pass that never ends');
  engine.lose('the driver was reset');
  const state = await session.phase('failed');
  expect(state.message).toBe('The device failed: the driver was reset');
  expect(server.of('task:failed')).toEqual([
    { lease: 7, reason: 'device-lost', message: 'the driver was reset' },
  ]);
  await until(() => !server.connected && engine.disposed, 'the end');
});

test('out of memory is reported in words, and the session goes on with smaller passes', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  session.engine.failure = new EngineError('out-of-memory', '2 samples do not fit');
  server.lease(makeTask(server, { lease: 7, passSize: 2 }));
  await until(() => server.of('task:failed').length === 1, 'the failure');
  expect(server.of('task:failed')[0]).toEqual({
    lease: 7,
    reason: 'out-of-memory',
    message: '2 samples do not fit',
  });
  session.engine.failure = null;
  server.lease(makeTask(server, { lease: 8, passSize: 1 }));
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  // What the engine holds after a failure is not relied upon.
  expect(session.engine.loads).toBe(2);
});

test('tasks that cannot be understood or contradict themselves are given back', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  const task = makeTask(server, { lease: 7 });
  const hostile: unknown[] = [
    { ...task, lease: 1, kind: 'dream' },
    { ...task, lease: 2, samples: { start: 5, end: 5 } },
    { ...task, lease: 3, samples: { start: 0, end: 13 } },
    { ...task, lease: 4, config: { ...tinyConfig, width: 16 } },
    { ...task, lease: 5, sampling: { ...task.sampling, blockSize: 9 } },
    { ...task, lease: 6, data: { ...task.data, shards: task.data.shards.slice(0, 1) } },
    { ...task, lease: 7, parameters: { ...task.parameters, url: 'http://[' } },
    { ...task, lease: 8, sampling: { ...task.sampling, train: { start: 0, end: 5 } } },
  ];
  for (const [i, payload] of hostile.entries()) {
    server.lease(payload as typeof task);
    await until(() => server.of('task:failed').length === i + 1, `failure ${i + 1}`);
  }
  for (const payload of [null, 'task', { lease: -1 }, []]) server.lease(payload as unknown as typeof task);
  server.lease({ ...task, lease: 9 });
  await until(() => session.state().acceptedContributions === 1, 'a receipt');
  expect(server.of('task:failed').map(({ lease, reason }) => [lease, reason])).toEqual(
    hostile.map((_, i) => [i + 1, 'bad-data']),
  );
  expect(server.of('task:failed')[3].message).toContain('its model has');
});

test('tokens outside the vocabulary stop the task', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7, config: { ...tinyConfig, vocabSize: 20 } }));
  await until(() => server.of('task:failed').length === 1, 'the failure');
  expect(server.of('task:failed')[0].reason).toBe('bad-data');
  expect(server.of('task:failed')[0].message).toMatch(/token \d+; the model's vocabulary ends at 19/);
  expect(session.engine.passes).toBe(0);
});

test('what a refused int8 contribution left out is not carried over; what an accepted one left out is', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  let ends = 0;
  server.answers['contribution:end'] = () =>
    ++ends === 2
      ? refusal('INVALID_CONTRIBUTION', 'The contribution was refused: a test.')
      : { ok: true, acceptedSamples: 5, totalSamples: 5, totalContributions: 1 };
  const decoded: Float32Array[] = [];
  const exact: Float32Array[] = [];
  for (const lease of [1, 2, 3]) {
    const task = makeTask(server, { lease, version: lease, gradientEncoding: 'int8', passSize: 16 });
    server.lease(task);
    await until(() => ends === lease, 'the end');
    await session.phase('waiting');
    const parameters = parametersOf(tinyConfig, lease);
    exact.push(arithmeticGradient(parameters, trainingRows(task), blockSize + 1));
    const values = new Float32Array(parameters.length);
    decodeVector(new Uint8Array(server.assembled(lease)), 'int8', values);
    decoded.push(values);
  }
  expect(session.state()).toMatchObject({ refusedContributions: 1 });
  const at = (vectors: Float32Array[], k: number, i: number): number => vectors[k]?.[i] as number;
  const largest = Math.max(...exact.flatMap((vector) => [...vector.map(Math.abs)]));
  const halfStep = (1.05 * largest) / 127 / 2;
  let carried = 0;
  for (let i = 0; i < (exact[0] as Float32Array).length; i++) {
    const residual = at(exact, 0, i) - at(decoded, 0, i);
    carried = Math.max(carried, Math.abs(residual));
    // The third holds its own gradient and the residual of the first; the second has left no trace.
    expect(Math.abs(at(exact, 2, i) + residual - at(decoded, 2, i))).toBeLessThanOrEqual(halfStep);
    expect(Math.abs(at(exact, 1, i) + residual - at(decoded, 1, i))).toBeLessThanOrEqual(halfStep);
  }
  expect(carried).toBeGreaterThan(0);
});

test('a contribution that comes too late is nobody’s failure', async () => {
  await using server = await ProtocolServer.start();
  server.answers['contribution:begin'] = () => refusal('LEASE_EXPIRED', 'It was given to someone else.');
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.lease(makeTask(server, { lease: 7 }));
  await until(() => session.state().problem?.code === 'LEASE_EXPIRED', 'the refusal');
  await session.phase('waiting');
  expect(session.state().refusedContributions).toBe(0);
  expect(server.sequence()).toEqual(['hello', 'contribution:begin']);
});

test('another protocol version ends the session with what to do', async () => {
  await using server = await ProtocolServer.start();
  server.answers.hello = () => refusal('PROTOCOL_MISMATCH', 'This page speaks protocol 0, the server 1.');
  const engine = new ArithmeticEngine();
  Object.assign(engine, { report: { ...engine.report, environment: 'browser' } });
  await using session = startSession(server.url, engine);
  const state = await session.phase('failed');
  expect(state.message).toContain('reload the page');
  expect(state.problem?.code).toBe('PROTOCOL_MISMATCH');
  await until(() => !server.connected, 'the end of the connection');
  expect(server.connections).toBe(1);
});

test('another refusal of hello is shown, and tried again', async () => {
  await using server = await ProtocolServer.start();
  server.answers.hello = (_payload, connection) =>
    connection < 3
      ? refusal('NOT_FOUND', 'There is no run "abcd".')
      : {
          ok: true,
          workerId: 'worker1',
          secret: 'secret',
          acceptedSamples: 0,
          acceptedContributions: 0,
          refusedContributions: 0,
        };
  await using session = startSession(server.url);
  await session.phase('waiting');
  expect(server.connections).toBe(3);
  const shown = session.states.find((state) => state.retryAt !== null);
  expect(shown?.message).toBe('The server does not take this worker now: There is no run "abcd".');
  expect(session.state()).toMatchObject({ problem: null, retryAt: null });
});

test('a server that is not there yet is waited for', async () => {
  let port: number;
  {
    await using closed = await ProtocolServer.start();
    port = closed.port;
  }
  await using session = startSession(`http://127.0.0.1:${port}`);
  const state = await until(() => session.state().retryAt !== null && session.state(), 'a failed attempt');
  expect(state.message).toContain('cannot be reached');
  await using server = await ProtocolServer.start(port);
  await session.phase('waiting');
  expect(server.connections).toBe(1);
});

test('a connection that was replaced elsewhere does not fight for its place', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.send('notice', { code: 'replaced', message: 'This worker has connected again elsewhere.' });
  server.dismiss();
  const state = await session.phase('stopped');
  expect(state.message).toBe('This worker has connected again elsewhere.');
  expect(server.connections).toBe(1);
});

test('a server that ends the connection for another reason is gone back to', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.dismiss();
  await until(() => server.of('hello').length === 2, 'the second hello');
});

test('a device that computes wrongly is told why, and never connects', async () => {
  await using server = await ProtocolServer.start();
  const checks = [
    { name: 'gelu', passed: false, detail: 'NaN at 20' },
    { name: 'matmul', passed: true, detail: '' },
  ];
  await using session = startSession(
    server.url,
    undefined,
    {},
    { selfTest: async () => ({ passed: false, milliseconds: 1, checks, switchedOff: [] }) },
  );
  const state = await session.phase('unsuitable');
  expect(state.message).toContain('gelu: NaN at 20');
  expect(state.message).not.toContain('matmul');
  await until(() => session.engine.disposed, 'the engine to be freed');
  expect(server.connections).toBe(0);
});

test('a waiting volunteer says what for, in the words of the server', async () => {
  await using server = await ProtocolServer.start();
  await using session = startSession(server.url);
  await session.phase('waiting');
  server.send('notice', { code: 'no-run', message: 'No run is on at the moment.' });
  await until(() => session.state().message === 'No run is on at the moment.', 'the notice');
  expect(session.state().phase).toBe('waiting');
  expect(session.state().log.length).toBeLessThanOrEqual(50);
});

test('more tasks than a worker takes are given back, so that none waits for ever', async () => {
  await using server = await ProtocolServer.start();
  const first = gate();
  await using session = startSession(server.url, new ArithmeticEngine({ onPass: () => first.passed }));
  await session.phase('waiting');
  for (let lease = 1; lease <= 11; lease++) server.lease(makeTask(server, { lease }));
  await until(() => server.of('task:failed').length === 2, 'the surplus');
  expect(server.of('task:failed').map(({ lease }) => lease)).toEqual([10, 11]);
  first.open();
  await until(() => server.of('contribution:end').length === 9, 'the rest');
});

test('a worker that comes back shows what has been counted for it before its first receipt', async () => {
  await using server = await ProtocolServer.start();
  server.answers.hello = () => ({
    ok: true,
    workerId: 'worker1',
    secret: 'secret',
    acceptedSamples: 41,
    acceptedContributions: 5,
    refusedContributions: 1,
  });
  await using session = startSession(server.url);
  expect(await session.phase('waiting')).toMatchObject({
    acceptedSamples: 41,
    acceptedContributions: 5,
    refusedContributions: 1,
  });
});
