import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockFolder } from './lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tabweave-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const script = `const { lockFolder } = await import(${JSON.stringify(new URL('./lock.ts', import.meta.url).href)});
try { lockFolder(process.argv[1]); console.log('locked'); setInterval(() => {}, 1000); }
catch (error) { console.log(error.message); }`;
const argumentsFor = (): string[] => ['--input-type=module', '-e', script, folder];

it('a second process is told who holds the folder', () => {
  const unlock = lockFolder(folder);
  const second = spawnSync(process.execPath, argumentsFor(), { encoding: 'utf8' });
  expect(second.stdout).toContain(`in use by the server with process id ${process.pid}`);
  unlock();
  expect(existsSync(join(folder, 'server.lock'))).toBe(false);
});

it('the lock of a killed process is taken over, that of a stopped one is not', async () => {
  const holder = spawn(process.execPath, argumentsFor());
  await once(holder.stdout, 'data');
  holder.kill('SIGSTOP');
  expect(() => lockFolder(folder)).toThrow(`process id ${holder.pid}`);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  lockFolder(folder)();
});

it('a pid that another process has now does not hold the lock', () => {
  writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid: process.pid, began: '1' }));
  lockFolder(folder)();
  for (const content of ['not json', '', '{}', '{"pid":0}', '{"pid":"abc"}', '[]', 'null']) {
    writeFileSync(join(folder, 'server.lock'), content);
    lockFolder(folder)();
  }
});
