import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { servePages } from './files.ts';

let folder: string;
let app: FastifyInstance;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tabweave-pages-'));
  mkdirSync(join(folder, 'assets'));
  writeFileSync(join(folder, 'index.html'), '<p>page</p>');
  writeFileSync(join(folder, 'assets/one.js'), 'one');
  app = Fastify();
  await servePages(app, folder);
});
afterAll(async () => {
  await app.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each(['/', '/?run=1', '/admin', '/admin/runs/abc?tab=charts', '/donate/abc'])(
  '%s is the page',
  async (url) => {
    const reply = await app.inject(url);
    expect(reply.statusCode).toBe(200);
    expect(reply.body).toBe('<p>page</p>');
    expect(reply.headers['cache-control']).toBe('no-cache');
  },
);

it.each(['/api/v1/nothing', '/assets/nothing.js', '/blobs/x/y', '/parameters/x'])(
  '%s is a problem, not the page',
  async (url) => {
    const reply = await app.inject(url);
    expect(reply.statusCode).toBe(404);
    expect(reply.json()).toMatchObject({ code: 'NOT_FOUND' });
  },
);

it('hashed files are kept for ever, and those of a build made meanwhile are found', async () => {
  const first = await app.inject('/assets/one.js');
  expect(first.headers['cache-control']).toContain('immutable');
  writeFileSync(join(folder, 'assets/two.js'), 'two');
  expect((await app.inject('/assets/two.js')).body).toBe('two');
});

it('nothing outside the folder can be had', async () => {
  for (const url of ['/../package.json', '/%2e%2e/%2e%2e/etc/passwd', '/assets/..%2f..%2fx']) {
    const reply = await app.inject(url);
    expect(reply.body).not.toContain('root:');
    expect(reply.statusCode === 200 ? reply.body : '<p>page</p>').toBe('<p>page</p>');
  }
});
