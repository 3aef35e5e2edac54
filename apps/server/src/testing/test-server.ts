/** A real server on a free port with a data folder of its own, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ServerConfig } from '../config.ts';
import { startServer, type RunningServer } from '../server.ts';

export const adminToken = 'test-admin-token';

export interface TestServer extends AsyncDisposable {
  server: RunningServer;
  url: string;
  dataDir: string;
  /** JSON request with the admin token; the body of the reply is parsed. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: any }>;
  /** Uploads a text as dataset. */
  upload(text: string | Uint8Array, fields?: Record<string, string>): Promise<{ status: number; body: any }>;
  restart(): Promise<void>;
  /** Starts again after `server.close()`. */
  reopen(): Promise<void>;
}

export async function testServer(overrides: Partial<ServerConfig> = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tabweave-server-'));
  const config: ServerConfig = {
    host: '127.0.0.1',
    port: 0,
    dataDir,
    adminToken,
    https: false,
    publicUrl: null,
    allowedOrigins: [],
    trustProxy: false,
    demo: false,
    logLevel: 'silent',
    gatherMilliseconds: 10,
    ...overrides,
  };
  const start = (): Promise<RunningServer> => startServer(config, join(dataDir, 'no-pages'));
  const server = await start();
  const headers = { authorization: `Bearer ${adminToken}` };
  const parse = async (response: Response): Promise<{ status: number; body: any }> => {
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, body: json ? JSON.parse(text) : text };
  };
  const fixture: TestServer = {
    server,
    url: server.localUrl,
    dataDir,
    call: async (method, path, body) =>
      parse(
        await fetch(`${fixture.url}/api/v1${path}`, {
          method,
          headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
    upload: async (text, fields = {}) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.append(name, value);
      form.append('file', new Blob([text as Uint8Array<ArrayBuffer>]), 'text.txt');
      return parse(await fetch(`${fixture.url}/api/v1/datasets`, { method: 'POST', headers, body: form }));
    },
    restart: async () => {
      await fixture.server.close();
      await fixture.reopen();
    },
    reopen: async () => {
      fixture.server = await start();
      fixture.url = fixture.server.localUrl;
    },
    [Symbol.asyncDispose]: async () => {
      await fixture.server.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
  return fixture;
}

export const sampleText = 'the quick brown fox jumps over the lazy dog. '.repeat(40);

/** A dataset, a tiny model and a draft run on them; gives the run. */
export async function draftRun(
  fixture: TestServer,
  recipe: Record<string, unknown> = {},
  strategy: Record<string, unknown> = {},
): Promise<{ id: string; parameters: number }> {
  const dataset = (await fixture.upload(sampleText)).body;
  const config = { vocab_size: dataset.vocabularySize, n_positions: 8, n_embd: 8, n_layer: 1, n_head: 2 };
  const model = (await fixture.call('POST', '/models', { name: 'tiny', config })).body;
  const run = await fixture.call('POST', '/runs', {
    name: 'test run',
    modelId: model.id,
    datasetId: dataset.id,
    recipe: { blockSize: 8, globalBatch: 6, maxSteps: 4, evaluateEvery: 2, evaluationSamples: 4, ...recipe },
    strategy,
  });
  return { id: run.body.id as string, parameters: model.parameters as number };
}
