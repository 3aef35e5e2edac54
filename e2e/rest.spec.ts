/** REST, from outside: what is wrong is refused in words, and leaves nothing behind. */
import { readFileSync } from 'node:fs';
import { limits, type Dataset, type Model, type ProblemCode, type Run } from '@tabweave/shared';
import { inRoot } from '../scripts/workspace/paths.mjs';
import { jsonRequest, textForm, type ApiClient } from './support/api-client.ts';
import { expect, test } from './support/fixtures.ts';

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(40);
const shape = { n_layer: 1, n_head: 2, n_embd: 8, n_positions: 16 };

interface Parts {
  dataset: Dataset;
  model: Model;
}
let parts: Parts;

test.beforeAll(async ({ api }) => {
  const dataset = await api.uploadText(text, { name: 'fox' });
  const config = { ...shape, vocab_size: dataset.vocabularySize };
  const model = await api.call<Model>('POST', '/models', { name: 'tiny', config });
  parts = { dataset, model };
});

async function everything(api: ApiClient): Promise<unknown> {
  return Promise.all(['/datasets', '/models', '/runs'].map((path) => api.call('GET', path)));
}

interface BadInput {
  what: string;
  path: string;
  init: () => RequestInit;
  code: ProblemCode;
  /** Words that the person needs to see, in the detail or in a field error. */
  says: RegExp;
}

const form = (body: FormData): RequestInit => ({ method: 'POST', body });
const model =
  (config: object): (() => RequestInit) =>
  () =>
    jsonRequest('POST', { name: 'bad', config });
const run = (change: (parts: Parts) => object): (() => RequestInit) => {
  return () =>
    jsonRequest('POST', {
      name: 'bad',
      modelId: parts.model.id,
      datasetId: parts.dataset.id,
      recipe: { blockSize: 8 },
      ...change(parts),
    });
};

const refused: BadInput[] = [
  {
    what: 'an upload that is not multipart',
    path: '/datasets',
    init: () => jsonRequest('POST', { text }),
    code: 'INVALID_INPUT',
    says: /multipart/i,
  },
  {
    what: 'a multipart body that is cut off',
    path: '/datasets',
    init: () => ({
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhalf a te',
    }),
    code: 'INVALID_INPUT',
    says: /./,
  },
  {
    what: 'an upload without a file',
    path: '/datasets',
    init: () => {
      const body = new FormData();
      body.append('name', 'no file');
      return form(body);
    },
    code: 'INVALID_INPUT',
    says: /file/,
  },
  {
    what: 'an unknown upload field',
    path: '/datasets',
    init: () => form(textForm(text, { colour: 'blue' })),
    code: 'INVALID_INPUT',
    says: /colour/,
  },
  {
    what: 'an empty text',
    path: '/datasets',
    init: () => form(textForm('')),
    code: 'INVALID_DATASET',
    says: /no text/i,
  },
  {
    what: 'a text that is not UTF-8',
    path: '/datasets',
    init: () => form(textForm(Uint8Array.of(0x54, 0xff, 0xfe, 0x00, 0x80))),
    code: 'INVALID_DATASET',
    says: /UTF-8/,
  },
  {
    what: 'a tokenizer file that is none',
    path: '/datasets',
    init: () => {
      const body = textForm(text, { tokenizer: 'huggingface' });
      body.append('tokenizerFile', new Blob(['{"model": 3}']), 'tokenizer.json');
      return form(body);
    },
    code: 'INVALID_TOKENIZER',
    says: /tokenizer/i,
  },
  {
    what: 'a body that is not JSON',
    path: '/models',
    init: () => ({ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name": ' }),
    code: 'INVALID_INPUT',
    says: /JSON/i,
  },
  {
    what: 'a JSON body over its limit',
    path: '/models',
    init: () => jsonRequest('POST', { name: 'x'.repeat(limits.jsonBodyBytes) }),
    code: 'TOO_LARGE',
    says: /large/i,
  },
  {
    what: 'an unknown field of a model config',
    path: '/models',
    init: model({ ...shape, vocab_size: 50, n_layers: 3 }),
    code: 'INVALID_MODEL',
    says: /n_layers/,
  },
  {
    what: 'heads that do not divide the width',
    path: '/models',
    init: model({ ...shape, vocab_size: 50, n_head: 3 }),
    code: 'INVALID_MODEL',
    says: /n_head/,
  },
  {
    what: 'a negative size',
    path: '/models',
    init: model({ ...shape, vocab_size: -1 }),
    code: 'INVALID_MODEL',
    says: /vocab_size/,
  },
  {
    what: 'a model over the parameter limit',
    path: '/models',
    init: model({ n_layer: 48, n_head: 25, n_embd: 1600, vocab_size: 50_257 }),
    code: 'TOO_LARGE',
    says: /parameters/,
  },
  {
    what: 'an unknown recipe field',
    path: '/runs',
    init: run(() => ({ recipe: { blockSize: 8, learning_rate: 1 } })),
    code: 'INVALID_INPUT',
    says: /learning_rate/,
  },
  {
    what: 'a recipe value out of range',
    path: '/runs',
    init: run(() => ({ recipe: { blockSize: 8, globalBatch: 0 } })),
    code: 'INVALID_INPUT',
    says: /globalBatch/,
  },
  {
    what: "a block longer than the model's positions",
    path: '/runs',
    init: run(() => ({ recipe: { blockSize: 17 } })),
    code: 'INCOMPATIBLE_RUN',
    says: /blockSize.*16 positions/,
  },
  {
    what: 'a run on a dataset that does not exist',
    path: '/runs',
    init: run(() => ({ datasetId: 'nosuchdataset' })),
    code: 'NOT_FOUND',
    says: /nosuchdataset/,
  },
];

for (const { what, path, init, code, says } of refused) {
  test(`${what} is ${code}, and nothing is left behind`, async ({ api }) => {
    const before = await everything(api);
    const problem = await api.refusal(path, init());
    expect(problem.code).toBe(code);
    expect(`${problem.detail} ${JSON.stringify(problem.errors)}`).toMatch(says);
    expect(await everything(api)).toEqual(before);
  });
}

test('a text shorter than one block is refused where it is put to use', async ({ api }) => {
  const short = await api.uploadText('abcdefghij', { name: 'short' });
  const before = await everything(api);
  const init = run(() => ({ datasetId: short.id, recipe: { blockSize: 16, evaluateEvery: 0 } }));
  const problem = await api.refusal('/runs', init());
  expect(problem).toMatchObject({ code: 'INCOMPATIBLE_RUN', errors: [{ path: 'recipe.blockSize' }] });
  expect(problem.detail).toMatch(/needs 17/);
  expect(await everything(api)).toEqual(before);
});

test('without a right token nothing is shown and nothing happens', async ({ api }) => {
  const draft = await api.call<Run>('POST', '/runs', {
    name: 'draft',
    modelId: parts.model.id,
    datasetId: parts.dataset.id,
    recipe: { blockSize: 8 },
  });
  for (const authorization of ['Bearer wrong', 'Bearer ', 'Basic YTpi', '']) {
    for (const [method, path] of [
      ['GET', '/runs'],
      ['GET', `/runs/${draft.id}/checkpoint`],
      ['POST', `/runs/${draft.id}/start`],
      ['DELETE', `/datasets/${parts.dataset.id}`],
    ] as const) {
      const problem = await api.refusal(path, { method, headers: { authorization } });
      expect(problem.code).toBe('UNAUTHORIZED');
    }
  }
  expect(await api.run(draft.id)).toEqual(draft);
});

test('the wrong moment is CONFLICT, and changes nothing', async ({ api }) => {
  const draft = await api.call<Run>('POST', '/runs', {
    name: 'conflicts',
    modelId: parts.model.id,
    datasetId: parts.dataset.id,
    recipe: { blockSize: 8 },
  });
  const requests = [
    [`/runs/${draft.id}/pause`, 'POST'],
    [`/runs/${draft.id}/resume`, 'POST'],
    [`/runs/${draft.id}/checkpoint`, 'GET'],
    [`/datasets/${parts.dataset.id}`, 'DELETE'],
    [`/models/${parts.model.id}`, 'DELETE'],
  ] as const;
  for (const [path, method] of requests) {
    expect(await api.refusal(path, { method }), path).toMatchObject({ code: 'CONFLICT' });
  }
  expect(await api.run(draft.id)).toEqual(draft);
});

test('paths that lead nowhere, or out of the data folder, are NOT_FOUND', async ({ api, server }) => {
  const hash = '0'.repeat(64);
  for (const path of [
    '/runs/nosuchrun',
    '/nothing',
    `/../../blobs/${hash}`,
    `/../../blobs/${encodeURIComponent('../tabweave.sqlite')}`,
    `/../../parameters/${encodeURIComponent('../..')}/${hash}`,
  ]) {
    expect(await api.refusal(path, { method: 'GET' }), path).toMatchObject({ code: 'NOT_FOUND' });
  }
  expect((await fetch(`${server.url}/blobs/${hash}`)).status).toBe(404);
});

test('a run can be made by another page only with a token: no CORS, no cookies', async ({ server }) => {
  const response = await fetch(`${server.url}/api/v1/runs`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect((await fetch(`${server.url}/`)).headers.get('set-cookie')).toBeNull();
});

test('docs/api.md lists every route of the OpenAPI description, and no other', async ({ server }) => {
  const openapi = (await (await fetch(`${server.url}/api/docs/json`)).json()) as {
    paths: Record<string, Record<string, object>>;
  };
  const described = Object.entries(openapi.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/v1/, '')}`),
  );
  const page = readFileSync(inRoot('docs', 'api.md'), 'utf8');
  const listed = [...page.matchAll(/`((?:GET|POST|DELETE|PUT|PATCH) \/[^`]*)`/g)].map((match) => match[1]);
  expect([...new Set(listed)].sort()).toEqual(described.sort());
});
