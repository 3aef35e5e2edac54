import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { decodeVector, gpt2Layout, Random } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { ProtocolServer, until } from '../session/testing/protocol-server.ts';
import { makeTask, tinyConfig } from '../session/testing/tasks.ts';
import { startHeadless } from './index.ts';

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const script = fileURLToPath(new URL('./headless.ts', import.meta.url));
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [script, ...args], (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr });
    });
  });
}

test('the command line says what is wrong with it and how it is used', async () => {
  const [wrong, help] = await Promise.all([run('--url', 'nowhere'), run('--help')]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/--url is an address.*not "nowhere"[\s\S]*Usage: npm run worker/);
  expect(help).toMatchObject({ code: 0, stderr: '' });
  expect(help.stdout).toContain('--duty SHARE');
});

/** As a new model has them (layout.ts), so that it guesses each token with equal chance. */
function initialised(): Float32Array {
  const random = new Random(1);
  const { tensors, size } = gpt2Layout(tinyConfig);
  const vector = new Float32Array(size);
  for (const { offset, size: length, initialisation } of tensors) {
    for (let i = offset; i < offset + length; i++) {
      if (initialisation.kind === 'ones') vector[i] = 1;
      if (initialisation.kind === 'normal') vector[i] = initialisation.standardDeviation * random.normal();
    }
  }
  return vector;
}

test('a worker on a thread of its own trains with a real engine, and leaves when asked', async () => {
  await using server = await ProtocolServer.start();
  const headless = await startHeadless({ url: server.url, backend: 'wasm', name: 'thread' });
  await until(() => server.of('hello').length === 1, 'hello');
  expect(server.of('hello')[0]).toMatchObject({
    name: 'thread',
    device: { backend: 'wasm', environment: 'node' },
    selfTest: { passed: true },
  });
  const parameters = initialised();
  const served = server.serve(new Uint8Array(parameters.buffer));
  const task = makeTask(server, { lease: 3, samples: { start: 0, end: 5 }, passSize: 2 });
  server.lease({ ...task, parameters: { ...served, encoding: 'float32' } });
  await until(() => headless.states[0]?.acceptedContributions === 1, 'a receipt');

  const [begin] = server.of('contribution:begin');
  expect(begin.lossSum / 5).toBeCloseTo(Math.log(tinyConfig.vocabSize), 1);
  const gradient = new Float32Array(parameters.length);
  decodeVector(new Uint8Array(server.assembled(3)), 'float32', gradient);
  // Down the gradient lies a smaller loss: the next contribution shows it.
  const step = parameters.map((value, i) => value - (0.01 * (gradient[i] as number)) / 5);
  const better = server.serve(new Uint8Array(step.buffer));
  server.lease({ ...task, lease: 4, parameters: { ...better, encoding: 'float32' } });
  await until(() => server.of('contribution:begin').length === 2, 'the second contribution');
  const [, second] = server.of('contribution:begin');
  const squares = gradient.reduce((sum, value) => sum + (value / 5) ** 2, 0);
  const gained = begin.lossSum / 5 - second.lossSum / 5;
  expect(gained).toBeGreaterThan(0.8 * 0.01 * squares);
  expect(gained).toBeLessThan(1.05 * 0.01 * squares);

  await headless.finish();
  expect(headless.states.map((state) => state?.phase)).toEqual(['stopped']);
  await until(() => !server.connected, 'the end of the connection');
});

test('a device that cannot be had is told, and not tried for ever', async () => {
  const notes: string[] = [];
  const headless = await startHeadless(
    { url: 'http://127.0.0.1:1', backend: 'webgl' },
    { onNote: (_worker, text) => notes.push(text) },
  );
  await headless.over;
  expect(headless.states[0]).toMatchObject({ phase: 'failed' });
  expect(headless.states[0]?.message).toMatch(/could not be made ready: WebGL/);
  expect(notes).toEqual([]);
});
