import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { byteTokenizerJson, readSafetensors } from '@tabweave/shared';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../testing/bot.ts';
import { draftRun, sampleText, testServer, type TestServer } from '../testing/test-server.ts';

let fixture: TestServer;
beforeAll(async () => {
  fixture = await testServer();
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

async function counts(): Promise<number[]> {
  const lists = await Promise.all(
    ['datasets', 'models', 'runs'].map((name) => fixture.call('GET', `/${name}`)),
  );
  return [lists[0]?.body.datasets.length, lists[1]?.body.models.length, lists[2]?.body.runs.length];
}

describe('authorisation', () => {
  it.each(['/datasets', '/models', '/runs', '/overview'])('%s needs the admin token', async (path) => {
    for (const token of [undefined, 'Bearer wrong', 'Basic dGVzdA==']) {
      const response = await fetch(`${fixture.url}/api/v1${path}`, {
        headers: token === undefined ? {} : { authorization: token },
      });
      expect(response.status).toBe(401);
      expect(response.headers.get('content-type')).toContain('application/problem+json');
      expect(await response.json()).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    }
  });

  it('a link token opens one session, once; signing out ends it', async () => {
    const link = fixture.server.services.auth.newLinkToken();
    const exchange = () =>
      fetch(`${fixture.url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: link }),
      });
    const session = (await (await exchange()).json()) as { token: string };
    expect((await exchange()).status).toBe(401);
    const headers = { authorization: `Bearer ${session.token}` };
    expect((await fetch(`${fixture.url}/api/v1/runs`, { headers })).status).toBe(200);
    expect((await fetch(`${fixture.url}/api/v1/session`, { method: 'DELETE', headers })).status).toBe(204);
    expect((await fetch(`${fixture.url}/api/v1/runs`, { headers })).status).toBe(401);
  });
});

describe('bad input', () => {
  const config = { vocab_size: 30, n_positions: 8, n_embd: 8, n_layer: 1, n_head: 2 };

  it.each([
    ['an unknown field', { name: 'x', config, colour: 'red' }, 'INVALID_INPUT', 'colour'],
    ['an unknown config field', { name: 'x', config: { ...config, n_heads: 2 } }, 'INVALID_MODEL', 'n_heads'],
    [
      'an impossible shape',
      { name: 'x', config: { ...config, n_head: 3 } },
      'INVALID_MODEL',
      'multiple of n_head',
    ],
    ['no name', { config }, 'INVALID_INPUT', 'name'],
    [
      'a model over the limit',
      { name: 'x', config: { ...config, n_embd: 8192, n_layer: 48 } },
      'TOO_LARGE',
      'at most',
    ],
    ['a list', [], 'INVALID_INPUT', 'object'],
  ])('a model with %s is refused in words, and nothing is created', async (_, body, code, words) => {
    const before = await counts();
    const reply = await fixture.call('POST', '/models', body);
    expect(reply.body).toMatchObject({ code });
    expect(JSON.stringify(reply.body)).toContain(words);
    expect(await counts()).toEqual(before);
  });

  it.each([
    ['an empty fraction', sampleText, { validationFraction: '' }, 'INVALID_INPUT', 'validationFraction'],
    ['no text', '   \n', {}, 'INVALID_DATASET', 'no text'],
    ['binary data', Uint8Array.of(0xff, 0xfe, 0x00, 0x41), {}, 'INVALID_DATASET', 'UTF-8'],
    ['NUL characters', 'a\0b', {}, 'INVALID_DATASET', 'NUL'],
    ['an unknown field', sampleText, { flavour: 'x' }, 'INVALID_INPUT', 'flavour'],
    ['an unknown tokenizer', sampleText, { tokenizer: 'words' }, 'INVALID_INPUT', 'tokenizer'],
    [
      'a missing tokenizer file',
      sampleText,
      { tokenizer: 'huggingface' },
      'INVALID_TOKENIZER',
      'tokenizerFile',
    ],
    [
      'a fraction over one half',
      sampleText,
      { validationFraction: '0.9' },
      'INVALID_INPUT',
      'validationFraction',
    ],
  ])(
    'a dataset with %s is refused in words, and nothing is left behind',
    async (_, text, fields, code, words) => {
      const before = await counts();
      const reply = await fixture.upload(text, fields as Record<string, string>);
      expect(reply.body).toMatchObject({ code });
      expect(JSON.stringify(reply.body)).toContain(words);
      expect(await counts()).toEqual(before);
      expect(readdirSync(join(fixture.dataDir, 'tmp'))).toEqual([]);
    },
  );

  it('a broken multipart body, JSON in its place, and broken JSON are refused', async () => {
    const post = (type: string, body: string, path = '/datasets') =>
      fetch(`${fixture.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: 'Bearer test-admin-token', 'content-type': type },
        body,
      });
    for (const response of [
      await post('multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="file"'),
      await post('multipart/form-data', 'no boundary'),
      await post('application/json', '{"name":"x"}'),
      await post('application/json', '{"name":', '/models'),
      await post('application/json', `{"name":"${'x'.repeat(300_000)}"}`, '/models'),
    ]) {
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(response.status).toBeLessThan(500);
      expect(await response.json()).toHaveProperty('detail');
    }
    expect(readdirSync(join(fixture.dataDir, 'tmp'))).toEqual([]);
  });

  it('a run whose parts do not fit names every part that does not', async () => {
    const dataset = (await fixture.upload('a short text of few words')).body;
    const model = (await fixture.call('POST', '/models', { name: 'm', config: { ...config, vocab_size: 5 } }))
      .body;
    const before = await counts();
    const reply = await fixture.call('POST', '/runs', {
      name: 'r',
      modelId: model.id,
      datasetId: dataset.id,
      recipe: { blockSize: 64, warmupSteps: 20, maxSteps: 10 },
    });
    expect(reply.status).toBe(400);
    expect(reply.body.code).toBe('INCOMPATIBLE_RUN');
    const paths = reply.body.errors.map((error: { path: string }) => error.path);
    expect(new Set(paths)).toEqual(
      new Set(['recipe.blockSize', 'modelId', 'recipe.warmupSteps', 'recipe.evaluateEvery']),
    );
    expect(reply.body.detail).toContain('one sample needs 65');
    expect(await counts()).toEqual(before);
  });

  it.each([
    ['GET', '/runs/nosuchrun000', 404],
    ['GET', '/runs/UPPER!', 400],
    ['POST', '/runs/nosuchrun000/start', 404],
    ['GET', '/datasets/..%2f..%2fetc', 400],
    ['PUT', '/runs', 404],
    ['GET', '/runs/%', 400],
  ])('%s %s gives %i', async (method, path, status) => {
    const reply = await fixture.call(method, path);
    expect(reply.status).toBe(status);
    expect(reply.body).toHaveProperty('code');
  });
});

describe('files by hash', () => {
  it.each(['/blobs/%2e%2e%2f%2e%2e', `/blobs/${'0'.repeat(64)}`, '/parameters/x/y'])(
    '%s is not found',
    async (path) => {
      expect((await fetch(`${fixture.url}${path}`)).status).toBe(404);
    },
  );

  it('dataset shards are served for ever under their hash, and hold the tokens', async () => {
    const dataset = (await fixture.upload('abcabcabd', { tokenizer: 'byte', name: 'bytes' })).body;
    expect(dataset).toMatchObject({ tokens: 9, vocabularySize: 256, name: 'bytes' });
    const row = await fixture.server.services.datasets.row(dataset.id);
    const [{ hash }] = JSON.parse(row.shards) as [{ hash: string }];
    const response = await fetch(`${fixture.url}/blobs/${hash}`);
    expect(response.headers.get('cache-control')).toContain('immutable');
    expect([...new Uint16Array(await response.arrayBuffer())]).toEqual([...Buffer.from('abcabcabd')]);
  });
});

describe('datasets', () => {
  it('encode and decode text, whatever the tokenizer', async () => {
    for (const tokenizer of ['character', 'byte']) {
      const { id } = (await fixture.upload(sampleText, { tokenizer })).body;
      const { ids } = (await fixture.call('POST', `/datasets/${id}/encode`, { text: 'lazy fox' })).body;
      expect(ids).toHaveLength(8);
      expect((await fixture.call('POST', `/datasets/${id}/decode`, { ids })).body).toEqual({
        text: 'lazy fox',
      });
    }
  });

  it('take any Hugging Face tokenizer.json, and refuse what is none', async () => {
    const merges = byteTokenizerJson() as {
      model: { vocab: object; merges: string[] };
    };
    merges.model.vocab = { ...merges.model.vocab, th: 256, the: 257 };
    merges.model.merges = ['t h', 'th e'];
    const send = async (tokenizer: string) => {
      const form = new FormData();
      form.append('tokenizer', 'huggingface');
      form.append('file', new Blob(['the thing']), 'thing.txt');
      form.append('tokenizerFile', new Blob([tokenizer]), 'tokenizer.json');
      const response = await fetch(`${fixture.url}/api/v1/datasets`, {
        method: 'POST',
        headers: { authorization: 'Bearer test-admin-token' },
        body: form,
      });
      return { status: response.status, body: (await response.json()) as any };
    };
    const { body } = await send(JSON.stringify(merges));
    expect(body).toMatchObject({
      name: 'thing.txt',
      tokenizer: 'huggingface',
      vocabularySize: 258,
      tokens: 6,
    });
    const { ids } = (await fixture.call('POST', `/datasets/${body.id}/encode`, { text: 'the' })).body;
    expect(ids).toEqual([257]);
    expect((await fixture.call('POST', `/datasets/${body.id}/decode`, { ids: [257, 256] })).body.text).toBe(
      'theth',
    );
    const withId = (id: unknown): string =>
      JSON.stringify({ ...merges, model: { ...merges.model, vocab: { ...merges.model.vocab, the: id } } });
    const unknownWord = JSON.stringify({
      version: '1.0',
      added_tokens: [],
      pre_tokenizer: { type: 'Whitespace' },
      model: { type: 'WordLevel', vocab: { the: 0 }, unk_token: '[UNK]' },
    });
    const strangeIds = [1e15, -5, 0.5, 'x', null].map(withId);
    const none = ['', '{}', '[1]', 'not json', '{"model":{"type":"BPE"}}'];
    for (const garbage of [...none, ...strangeIds, unknownWord]) {
      expect((await send(garbage)).body, garbage).toMatchObject({ code: 'INVALID_TOKENIZER' });
    }
    expect(readdirSync(join(fixture.dataDir, 'tmp'))).toEqual([]);
  });

  it('of the same text keep their tokens when one of them is deleted while the other arrives', async () => {
    const same = Buffer.from(Array.from({ length: 3_000_000 }, (_, i) => 97 + ((i * i) % 23)));
    let older = (await fixture.upload(same, { tokenizer: 'byte' })).body.id as string;
    for (const delay of [0, 20, 40]) {
      const arriving = fixture.upload(same, { tokenizer: 'byte' });
      await new Promise((resolve) => setTimeout(resolve, delay));
      expect((await fixture.call('DELETE', `/datasets/${older}`)).status).toBe(204);
      older = (await arriving).body.id as string;
      const row = await fixture.server.services.datasets.row(older);
      for (const { hash } of JSON.parse(row.shards) as { hash: string }[]) {
        expect((await fetch(`${fixture.url}/blobs/${hash}`, { method: 'HEAD' })).status).toBe(200);
      }
    }
  });

  it('in use cannot be deleted; unused can, with their blobs', async () => {
    const run = await draftRun(fixture);
    const { datasetId } = (await fixture.call('GET', `/runs/${run.id}`)).body;
    expect((await fixture.call('DELETE', `/datasets/${datasetId}`)).body).toMatchObject({ code: 'CONFLICT' });
    const lone = (await fixture.upload('something that no other dataset holds')).body;
    const { tokenizer_hash: hash } = await fixture.server.services.datasets.row(lone.id);
    expect((await fixture.call('DELETE', `/datasets/${lone.id}`)).status).toBe(204);
    expect((await fetch(`${fixture.url}/blobs/${hash}`)).status).toBe(404);
  });
});

describe('a run', () => {
  it('goes through its states, and refuses what does not fit the present one', async () => {
    const { id } = await draftRun(fixture);
    const act = async (action: string) => (await fixture.call('POST', `/runs/${id}/${action}`)).body;
    expect(await act('pause')).toMatchObject({ code: 'CONFLICT' });
    expect((await fixture.call('GET', `/runs/${id}/checkpoint`)).body).toMatchObject({ code: 'CONFLICT' });
    expect(await act('start')).toMatchObject({
      status: 'running',
      step: 0,
      activity: expect.stringContaining('Waiting'),
    });
    expect(await act('start')).toMatchObject({ code: 'CONFLICT' });
    expect(await act('pause')).toMatchObject({ status: 'paused' });
    expect(await act('resume')).toMatchObject({ status: 'running' });
    expect(await act('stop')).toMatchObject({ status: 'stopped', finishedAt: expect.any(String) });
    expect(await act('resume')).toMatchObject({ code: 'CONFLICT' });
    expect((await fixture.call('DELETE', `/runs/${id}`)).status).toBe(204);
    expect((await fixture.call('GET', `/runs/${id}`)).status).toBe(404);
  });

  it('that is deleted while its checkpoint is asked for has none, and its folder stays gone', async () => {
    const { id } = await draftRun(fixture);
    await fixture.call('POST', `/runs/${id}/start`);
    // Asked of the service, since requests on several connections may overtake each other.
    const { runs } = fixture.server.services;
    const outcomes = await Promise.allSettled([runs.stop(id), runs.remove(id), runs.checkpoint(id)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(outcomes[2]).toMatchObject({ reason: { code: 'NOT_FOUND' } });
    expect(existsSync(join(fixture.dataDir, 'runs', id))).toBe(false);
  });

  it('exports a zip of Hugging Face files with the initial parameters', async () => {
    const { id } = await draftRun(fixture, { seed: 5 });
    await fixture.call('POST', `/runs/${id}/start`);
    const download = async () => {
      const response = await fetch(`${fixture.url}/api/v1/runs/${id}/checkpoint`, {
        headers: { authorization: 'Bearer test-admin-token' },
      });
      expect(response.headers.get('content-type')).toBe('application/zip');
      return unzipSync(new Uint8Array(await response.arrayBuffer()));
    };
    const files = await download();
    expect(Object.keys(files).sort()).toEqual([
      'config.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
    ]);
    const text = (name: string): string => new TextDecoder().decode(files[name]);
    expect(JSON.parse(text('config.json'))).toMatchObject({
      model_type: 'gpt2',
      n_embd: 8,
      architectures: ['GPT2LMHeadModel'],
    });
    const tensors = readSafetensors(files['model.safetensors'] as Uint8Array, (b) =>
      new TextDecoder().decode(b),
    );
    expect(tensors.entries).toHaveLength(2 + 12 + 2);
    expect([...tensors.read('transformer.ln_f.weight')]).toEqual(Array(8).fill(1));
    const embedding = tensors.read('transformer.wte.weight');
    const deviation = Math.sqrt(embedding.reduce((sum, v) => sum + v * v, 0) / embedding.length);
    expect(deviation).toBeGreaterThan(0.015);
    expect(deviation).toBeLessThan(0.025);
    await fixture.call('POST', `/runs/${id}/stop`);
    expect(await download()).toEqual(files);
  });
});

describe('a tokenizer that never ends', () => {
  it('is given up with its client, and leaves no file', async () => {
    const endless = {
      ...byteTokenizerJson(),
      pre_tokenizer: { type: 'Split', pattern: { Regex: '(a+)+$' }, behavior: 'Isolated', invert: false },
    };
    const form = new FormData();
    form.append('tokenizer', 'huggingface');
    form.append('file', new Blob([`${'a'.repeat(40)}b`]), 'a.txt');
    form.append('tokenizerFile', new Blob([JSON.stringify(endless)]), 'tokenizer.json');
    const leaving = new AbortController();
    const sent = fetch(`${fixture.url}/api/v1/datasets`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-admin-token' },
      body: form,
      signal: leaving.signal,
    });
    await until(() => readdirSync(join(fixture.dataDir, 'tmp')).length === 2, 'the upload to arrive');
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await until(() => readdirSync(join(fixture.dataDir, 'tmp')).length === 0, 'the files to go');
  });
});

describe('documentation and health', () => {
  it('OpenAPI lists every route of the API with its schemas', async () => {
    const api = (await (await fetch(`${fixture.url}/api/docs/json`)).json()) as {
      paths: object;
      components: { schemas: object };
    };
    expect(Object.keys(api.paths)).toEqual(
      expect.arrayContaining([
        '/api/v1/datasets',
        '/api/v1/models',
        '/api/v1/runs/{id}/start',
        '/api/v1/runs/{id}/checkpoint',
        '/healthz',
      ]),
    );
    expect(JSON.stringify(api)).toContain('globalBatch');
    expect((await fetch(`${fixture.url}/api/docs/`)).status).toBe(200);
  });

  it('healthz answers without a token', async () => {
    expect(await (await fetch(`${fixture.url}/healthz`)).json()).toMatchObject({ status: 'ok' });
  });
});
