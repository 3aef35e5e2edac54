import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { fetchBlob, type BlobPorts, type BlobRequest } from './fetch-blob.ts';
import { createHasher } from './sha256.ts';

const whole = Uint8Array.from({ length: 5000 }, (_, i) => (i * 31) % 256);
const request: BlobRequest = {
  url: new URL('http://server/blobs/x'),
  hash: createHash('sha256').update(whole).digest('hex'),
  bytes: whole.byteLength,
  what: 'the parameters',
};

type Attempt = Response | Error;

/** Answers attempts in turn; the last one for ever. */
function ports(
  attempts: Attempt[],
  signal = new AbortController().signal,
): BlobPorts & { inits: RequestInit[] } {
  const inits: RequestInit[] = [];
  return {
    inits,
    signal,
    fetch: async (_url, init) => {
      const attempt = attempts[Math.min(inits.push(init ?? {}), attempts.length) - 1];
      if (attempt instanceof Error) throw attempt;
      return (attempt as Response).clone();
    },
    onBytes: () => undefined,
    onRetry: () => undefined,
    backoff: { first: 1, most: 2 },
  };
}

const good = (): Response => new Response(whole.slice());

test('a network error, a server in trouble and a cut-off answer are tried again', async () => {
  const attempts: Attempt[] = [
    new TypeError('fetch failed'),
    new Response('', { status: 503 }),
    new Response(whole.slice(0, 4000)),
    good(),
  ];
  const { inits, ...rest } = ports(attempts);
  expect(await fetchBlob(request, rest)).toEqual(whole);
  expect(inits).toHaveLength(4);
});

test('a damaged answer is asked for again past the cache, which would give the same', async () => {
  const damaged = whole.slice();
  damaged[0] = 1;
  const { inits, ...rest } = ports([new Response(damaged), good()]);
  expect(await fetchBlob(request, rest)).toEqual(whole);
  expect(inits.map(({ cache }) => cache)).toEqual([undefined, 'reload']);
});

test('an answer longer than announced is broken off', async () => {
  let given = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      given += 1000;
      controller.enqueue(new Uint8Array(1000));
    },
  });
  const { inits, ...rest } = ports([new Response(endless)]);
  rest.fetch = async () => new Response(inits.push({}) === 1 ? endless : whole.slice());
  expect(await fetchBlob(request, rest)).toEqual(whole);
  expect(given).toBeLessThan(10_000);
});

test('aborting ends it at once, with the reason given', async () => {
  const controller = new AbortController();
  const { inits, ...rest } = ports([new TypeError('fetch failed')], controller.signal);
  rest.backoff = { first: 1e6, most: 1e6 };
  rest.onRetry = () => controller.abort(new Error('cancelled by the server'));
  await expect(fetchBlob(request, rest)).rejects.toThrow('cancelled by the server');
  expect(inits).toHaveLength(1);
});

test('without a platform hash, as on plain HTTP, the same SHA-256 is computed in script', async () => {
  const hasher = createHasher(null);
  for (let at = 0; at < whole.length; at += 777) hasher.update(whole.subarray(at, at + 777));
  expect(await hasher.digest(whole)).toBe(request.hash);
  expect(await createHasher().digest(whole)).toBe(request.hash);
});
