/** Whole runs on the real server with socket workers whose gradients are known: the invariants, end to end. */
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Run } from '@tabweave/shared';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startBot, until, type Bot, type BotOptions, type Decision } from '../testing/bot.ts';
import { draftRun, testServer, type TestServer } from '../testing/test-server.ts';

let fixture: TestServer;
let bots: Bot[];
beforeEach(async () => {
  fixture = await testServer();
  bots = [];
});
afterEach(async () => {
  for (const bot of bots) bot.stop();
  await fixture[Symbol.asyncDispose]();
});

async function bot(options: BotOptions = {}): Promise<Bot> {
  const made = await startBot(fixture.url, options);
  bots.push(made);
  return made;
}

const run = async (id: string): Promise<Run> => (await fixture.call('GET', `/runs/${id}`)).body as Run;

async function finished(id: string): Promise<Run> {
  return until(async () => {
    const now = await run(id);
    return now.status === 'finished' && now;
  }, 'the run to finish');
}

async function startRun(recipe: Record<string, unknown> = {}, strategy: Record<string, unknown> = {}) {
  const draft = await draftRun(fixture, recipe, strategy);
  await fixture.call('POST', `/runs/${draft.id}/start`);
  return draft.id;
}

/** Parameters of a finished run, for comparison within float32 summation error. */
async function parameters(id: string): Promise<Float32Array> {
  return (await fixture.server.services.runs.checkpoint(id)).parameters;
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] as number))), 0);
}

/** The same run with one well-behaved worker. */
async function reference(recipe: Record<string, unknown> = {}): Promise<Float32Array> {
  const id = await startRun(recipe);
  const lone = await bot({ runId: id });
  await finished(id);
  lone.stop();
  return parameters(id);
}

describe('any set of workers gives the single-worker result', () => {
  it('with workers that join late, leave in mid-step, and drop tasks', async () => {
    const expected = await reference();
    const id = await startRun();
    let dropped = 0;
    await bot({ runId: id });
    await bot({ runId: id, onTask: (task) => (task.version === 1 && dropped++ === 0 ? 'leave' : 'work') });
    const late = until(async () => (await run(id)).step >= 2, 'step 2').then(() => bot({ runId: id }));
    await bot({ runId: id });
    await finished(id);
    await late;
    expect(dropped).toBeGreaterThan(0);
    expect(largestDifference(await parameters(id), expected)).toBeLessThan(1e-5);
    const { points } = (await fixture.call('GET', `/runs/${id}/metrics`)).body;
    expect(points.map((point: { step: number }) => point.step)).toEqual([1, 2, 3, 4]);
    expect(points.map((point: { samples: number }) => point.samples)).toEqual([6, 6, 6, 6]);
    expect(points.map((point: { trainLoss: number }) => point.trainLoss)).toEqual(
      [3, 2.5, 2 + 1 / 3, 2.25].map((loss) => expect.closeTo(loss, 9)),
    );
    expect(points.map((point: { validationLoss: number | null }) => point.validationLoss)).toEqual([
      null,
      expect.closeTo(2 + 1 / 3, 9),
      null,
      expect.closeTo(2.2, 9),
    ]);
  });

  it('with int8 gradients, near it', async () => {
    const expected = await reference();
    const id = await startRun({}, { gradientEncoding: 'int8', parameterEncoding: 'float16' });
    await bot({ runId: id });
    await bot({ runId: id });
    await finished(id);
    // Adam divides by the gradient's own size: quantised values far below their block's largest may flip a step.
    const difference = largestDifference(await parameters(id), expected);
    expect(difference).toBeGreaterThan(0);
    expect(difference).toBeLessThan(1e-2);
  });
});

describe('hostile and broken workers change nothing', () => {
  it.each<[string, BotOptions['tamper'], string]>([
    ['NaN', (_, gradient) => void (gradient[3] = NaN), 'not finite'],
    ['another sample range', (begin) => void (begin.samples.end += 1), 'covers samples'],
    ['a wrong size', (begin) => void (begin.bytes -= 4), 'bytes, not'],
    ['another encoding', (begin) => void (begin.encoding = 'int8'), 'encoding'],
    ['a lease of its own', (begin) => void (begin.lease += 1_000_000), 'not yours'],
    ['a loss that is no number', (begin) => void (begin.lossSum = 1e300), 'sane'],
  ])('%s is refused with a reason, and the run ends as without it', async (_, tamper, words) => {
    const expected = await reference();
    const id = await startRun();
    const bad = await bot({ runId: id, ...(tamper ? { tamper } : {}) });
    await until(() => bad.problems[0] !== undefined, 'a refusal');
    expect(bad.problems[0]?.detail).toContain(words);
    bad.stop();
    await bot({ runId: id });
    await finished(id);
    expect(largestDifference(await parameters(id), expected)).toBeLessThan(1e-5);
  });

  it('a repeated contribution counts once', async () => {
    const expected = await reference();
    const id = await startRun();
    const repeats: string[] = [];
    await bot({
      runId: id,
      onTask: async (task, self): Promise<Decision> => {
        self.receipts.push(await self.contribute(task));
        const again = await self.contribute(task);
        repeats.push(again.ok ? 'accepted' : again.problem.code);
        return 'drop';
      },
    });
    await finished(id);
    expect(new Set(repeats)).toEqual(new Set(['LEASE_EXPIRED']));
    expect(largestDifference(await parameters(id), expected)).toBeLessThan(1e-5);
  });

  it('any garbage on any event is answered, and the connection goes on', async () => {
    const id = await startRun();
    const self = await bot({ runId: id, onTask: () => 'drop' });
    const events = [
      'hello',
      'status',
      'task:progress',
      'task:failed',
      'contribution:begin',
      'frame',
      'contribution:end',
    ];
    const garbage = [
      undefined,
      null,
      7,
      'x',
      [],
      {},
      { lease: -1 },
      { __proto__: { lease: 1 } },
      Buffer.alloc(40),
      { lease: NaN },
      { samples: { start: 1e308 } },
    ];
    for (const event of events) {
      for (const payload of garbage) {
        const reply = await (
          self.socket as unknown as {
            emitWithAck(e: string, p: unknown): Promise<{ ok: boolean; problem?: { detail: string } }>;
          }
        ).emitWithAck(event, payload);
        if (!reply.ok) expect(reply.problem?.detail.length).toBeGreaterThan(5);
        else expect(event).toBe('status');
      }
    }
    expect(self.socket.connected).toBe(true);
    expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200);
  });
});

describe('who may work', () => {
  it('a device too small for the model is told so with numbers', async () => {
    const id = await startRun();
    const small = await bot({ runId: id, memoryBytes: 4000 });
    const notice = await until(() => small.notices.find((n) => n.code === 'set-aside'), 'a notice');
    expect(notice.message).toMatch(/needs about .* MiB; this device offers 1 MiB/);
  });

  it('a run that is not there, a failed self-test and another protocol are refused in words', async () => {
    expect((await bot({ runId: 'nosuchrun000' })).hello).toMatchObject({
      ok: false,
      problem: { code: 'NOT_FOUND' },
    });
    const raw = await bot();
    const hello = {
      protocol: 99,
      device: { backend: 'cpu', environment: 'node', memoryBytes: 1, maxBufferBytes: 1 },
      selfTest: {
        passed: false,
        milliseconds: 1,
        checks: [{ name: 'gelu', passed: false, detail: 'NaN at 30' }],
      },
    };
    const second = await startBot(fixture.url);
    bots.push(second);
    expect(await raw.socket.emitWithAck('hello', hello as never)).toMatchObject({
      ok: false,
      problem: { code: 'PROTOCOL_MISMATCH' },
    });
  });

  it('an idle worker is told why, and begins when a run does', async () => {
    const id = (await draftRun(fixture)).id;
    const early = await bot();
    const notice = await until(() => early.notices[0], 'a notice');
    expect(notice).toMatchObject({ code: 'no-run' });
    await fixture.call('POST', `/runs/${id}/start`);
    await finished(id);
    expect(early.receipts.every((receipt) => receipt.ok)).toBe(true);
  });

  it('a returning worker is known again and keeps its counts', async () => {
    const id = await startRun();
    const first = await bot({ runId: id });
    await finished(id);
    const { hello } = first;
    if (!hello.ok) throw new Error('not admitted');
    first.stop();
    const next = await startRun();
    await until(() => fixture.server.services.runs.hub.size === 0, 'the worker to leave');
    const again = await bot({ runId: next, identity: { workerId: hello.workerId, secret: hello.secret } });
    expect(again.hello).toMatchObject({ ok: true, workerId: hello.workerId });
    await finished(next);
    const last = again.receipts.at(-1);
    expect(last?.ok && last.totalSamples).toBe(2 * (4 * 6 + 2 * 4));
  });
});

describe('restart', () => {
  it('a run that was running goes on by itself from its last committed version', async () => {
    const expected = await reference({ maxSteps: 6 });
    const id = await startRun({ maxSteps: 6 });
    const first = await bot({ runId: id, onTask: (task) => (task.version >= 3 ? 'drop' : 'work') });
    await until(async () => (await run(id)).step === 3, 'three steps');
    const before = await run(id);
    first.stop();
    await fixture.restart();
    expect(await run(id)).toMatchObject({
      status: 'running',
      step: 3,
      parametersHash: before.parametersHash,
    });
    await bot({ runId: id });
    await finished(id);
    expect(largestDifference(await parameters(id), expected)).toBeLessThan(1e-5);
  });

  it('steps that are lost with their files are said to be lost, and trained again only when an admin says so', async () => {
    const expected = await reference({ maxSteps: 5 });
    const id = await startRun({ maxSteps: 5 });
    const first = await bot({ runId: id, onTask: (task) => (task.version >= 4 ? 'drop' : 'work') });
    await until(async () => (await run(id)).step === 4, 'four steps');
    first.stop();
    const folder = join(fixture.dataDir, 'runs', id);
    const log = join(folder, 'log-0000000000.bin');
    const bytes = readFileSync(log);
    await fixture.server.close();
    // As it was after a kill: no snapshot of the end, and a damaged record in the middle.
    for (const name of readdirSync(folder))
      if (/^(snapshot|log)-000000000[1-9]/.test(name)) rmSync(join(folder, name));
    bytes[Math.floor(bytes.length * 0.6)] = (bytes[Math.floor(bytes.length * 0.6)] as number) ^ 1;
    writeFileSync(log, bytes);
    await fixture.reopen();
    const damaged = await run(id);
    expect(damaged).toMatchObject({ status: 'failed', step: 2 });
    expect(damaged.activity).toContain('Steps 3 to 4 are lost');
    const history = async () =>
      ((await fixture.call('GET', `/runs/${id}/metrics`)).body as { points: { step: number }[] }).points;
    expect((await history()).map((point) => point.step)).toEqual([1, 2]);
    expect((await fixture.call('POST', `/runs/${id}/resume`)).status).toBe(200);
    await bot({ runId: id });
    await finished(id);
    expect((await history()).map((point) => point.step)).toEqual([1, 2, 3, 4, 5]);
    expect(largestDifference(await parameters(id), expected)).toBeLessThan(1e-5);
  });

  it('a damaged run says so and leaves the others alone', async () => {
    const [broken, sound] = [await startRun(), await startRun()];
    await fixture.call('POST', `/runs/${broken}/pause`);
    const folder = join(fixture.dataDir, 'runs', broken);
    writeFileSync(join(folder, 'snapshot-0000000000.bin'), 'damaged');
    renameSync(join(folder, 'log-0000000000.bin'), join(folder, 'log-0000000007.bin'));
    await fixture.restart();
    const reply = await fixture.call('POST', `/runs/${broken}/resume`);
    expect(reply.status).toBe(500);
    expect(reply.body.detail).toContain('no usable snapshot');
    expect(await run(broken)).toMatchObject({ status: 'paused' });
    expect((await run(sound)).status).toBe('running');
  });
});
