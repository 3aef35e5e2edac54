import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { isStale } from './build-web.mjs';

const folder = mkdtempSync(join(tmpdir(), 'tabweave stale-'));
afterAll(() => rmSync(folder, { recursive: true }));

function at(name: string, seconds: number): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '');
  utimesSync(path, seconds, seconds);
  return path;
}
const touchFolders = (seconds: number): void => {
  for (const name of ['src', 'src/deep']) utimesSync(join(folder, name), seconds, seconds);
};

test('a build is stale when a source anywhere below is newer, or when there is none', () => {
  const source = join(folder, 'src');
  at('src/deep/a.ts', 100);
  touchFolders(100);
  const output = at('dist/index.html', 200);
  expect(isStale(output, [source])).toBe(false);
  expect(isStale(output, [source, join(folder, 'absent')])).toBe(false);
  at('src/deep/a.ts', 300);
  touchFolders(100);
  expect(isStale(output, [source])).toBe(true);
  expect(isStale(join(folder, 'dist/none.html'), [source])).toBe(true);
});

test('a deleted source makes a build stale, a newer test does not', () => {
  const source = join(folder, 'src');
  const output = at('dist/index.html', 400);
  at('src/deep/a.test.ts', 500);
  touchFolders(100);
  expect(isStale(output, [source])).toBe(false);
  rmSync(join(source, 'deep', 'a.ts'));
  expect(isStale(output, [source])).toBe(true);
});
