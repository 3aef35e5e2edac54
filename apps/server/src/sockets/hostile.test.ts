/** Connections that mean no good, or no sense, against the real server. */
import { protocolVersion, type ContributionBegin } from '@tabweave/shared';
import { io, type Socket } from 'socket.io-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startBot, until, type Bot, type BotOptions, type Decision } from '../testing/bot.ts';
import { draftRun, testServer, type TestServer } from '../testing/test-server.ts';

let fixture: TestServer;
let bots: Bot[];
const sockets: Socket[] = [];
beforeEach(async () => {
  fixture = await testServer();
  bots = [];
});
afterEach(async () => {
  for (const bot of bots) bot.stop();
  for (const socket of sockets.splice(0)) socket.disconnect();
  await fixture[Symbol.asyncDispose]();
});

async function bot(options: BotOptions = {}): Promise<Bot> {
  const made = await startBot(fixture.url, options);
  bots.push(made);
  return made;
}

async function startedRun(recipe: Record<string, unknown> = {}): Promise<string> {
  const { id } = await draftRun(fixture, recipe);
  await fixture.call('POST', `/runs/${id}/start`);
  return id;
}

function connect(path: string): Socket {
  const socket = io(`${fixture.url}${path}`, {
    transports: ['websocket'],
    reconnection: false,
    forceNew: true,
  });
  sockets.push(socket);
  return socket;
}

const device = { backend: 'cpu', environment: 'node', memoryBytes: 1e9, maxBufferBytes: 1e9 };
const hello = (more: object = {}): object => ({
  protocol: protocolVersion,
  device,
  selfTest: { passed: true, milliseconds: 1, checks: [], switchedOff: [] },
  ...more,
});

describe('connections', () => {
  it('to no namespace of ours are refused', async () => {
    const socket = connect('/');
    const error = await new Promise<Error>((resolve) => socket.once('connect_error', resolve));
    expect(error.message).toContain('/worker');
  });

  it('that flood events nobody listens to are cut', async () => {
    const socket = connect('/worker');
    const gone = new Promise((resolve) => socket.once('disconnect', resolve));
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    for (let i = 0; i < 400; i++) socket.emit('zzz', i);
    await gone;
    expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200);
  });

  it('whose hello was refused may say it again, rightly', async () => {
    const socket = connect('/worker');
    expect(await socket.emitWithAck('hello', hello({ runId: 'nosuchrun000' }))).toMatchObject({ ok: false });
    expect(await socket.emitWithAck('hello', hello())).toMatchObject({ ok: true });
    expect(await socket.emitWithAck('hello', hello())).toMatchObject({ problem: { code: 'CONFLICT' } });
  });

  it('that are only made leave no rows behind', async () => {
    for (let i = 0; i < 5; i++) await bot();
    expect(await fixture.server.workerRows()).toBe(0);
  });

  it('of one identity, several at once: the newest works, the others are told', async () => {
    const id = await startedRun();
    const first = await bot({ runId: id });
    await until(() => first.receipts.length > 0, 'a receipt');
    if (!first.hello.ok) throw new Error('not admitted');
    const { workerId, secret } = first.hello;
    first.stop();
    await until(async () => (await fixture.server.workerRows()) === 1, 'the worker to be stored');
    const copies = await Promise.all([1, 2, 3].map(() => bot({ identity: { workerId, secret } })));
    await until(() => copies.filter((copy) => !copy.socket.connected).length === 2, 'two to be replaced');
    const told = copies.filter((copy) => copy.notices.some((notice) => notice.code === 'replaced'));
    expect(told).toHaveLength(2);
    expect(fixture.server.services.runs.hub.size).toBe(1);
  });
});

describe('a run', () => {
  it('is not halted by workers that report nonsense while another has not answered yet', async () => {
    const id = await startedRun({ maxSteps: 2, evaluateEvery: 0 });
    const liar = (options: BotOptions = {}): Promise<Bot> =>
      bot({
        runId: id,
        onTask: async (task, self): Promise<Decision> => {
          await self.socket.emitWithAck('task:failed', {
            lease: task.lease,
            reason: 'non-finite',
            message: 'NaN',
          });
          return 'drop';
        },
        ...options,
      });
    await bot({
      runId: id,
      onTask: async (): Promise<Decision> => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        return 'work';
      },
    });
    await liar();
    await liar();
    await until(async () => (await fixture.call('GET', `/runs/${id}`)).body.status === 'finished', 'the end');
  });

  it('is halted, in words, when every worker says that the model has diverged', async () => {
    const id = await startedRun();
    for (let i = 0; i < 2; i++) await bot({ runId: id, tamper: (_, gradient) => void gradient.fill(NaN) });
    const run = await until(async () => {
      const { body } = await fixture.call('GET', `/runs/${id}`);
      return body.status === 'paused' && (body as { activity: string });
    }, 'the halt');
    expect(run.activity).toContain('diverged');
  });

  it('gives the memory of an upload back when its lease ends', async () => {
    const id = await startedRun();
    const staller = await bot({ runId: id, onTask: () => 'drop' });
    const task = await until(() => staller.tasks[0], 'a task');
    const begin: ContributionBegin = {
      lease: task.lease,
      samples: task.samples,
      lossSum: 1,
      encoding: 'float32',
      bytes: 4 * fixture.server.services.runs.get(id).model.parameters,
      timings: { waitMilliseconds: 0, downloadMilliseconds: 0, computeMilliseconds: 0 },
      cold: false,
    };
    expect(await staller.socket.emitWithAck('contribution:begin', begin)).toEqual({ ok: true });
    expect(fixture.server.uploads.bytesInUse).toBe(begin.bytes);
    await fixture.call('POST', `/runs/${id}/stop`);
    expect(fixture.server.uploads.bytesInUse).toBe(0);
  });
});
