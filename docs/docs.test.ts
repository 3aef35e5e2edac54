/** What the pages list is what the code has: neither may gain an entry alone. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as shared from '../packages/shared/src/index.ts';

const page = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map((m) => m[1] ?? '');
const section = (text: string, heading: string): string =>
  text.split(/^## /m).find((part) => part.startsWith(heading)) ?? '';

test('errors.md describes every problem code, with its status, and no other', () => {
  const rows = [...page('errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d+) \| (.+) \| (.+) \|$/gm)];
  const described = Object.fromEntries(rows.map(([, code, status]) => [code, Number(status)]));
  const catalogue = Object.entries(shared.problemCatalogue).map(([code, { status }]) => [code, status]);
  expect(described).toEqual(Object.fromEntries(catalogue));
});

test('the example of errors.md is a problem document', () => {
  const [json] = matches(page('errors.md'), /```json\n([\s\S]+?)```/g);
  const problem = shared.problemSchema.parse(JSON.parse(json ?? ''));
  const { code, detail, errors } = problem;
  expect(new shared.ProblemError(code, detail, errors).toProblem()).toEqual(problem);
});

test('protocol.md is of the present version and lists its reasons and notices', () => {
  const text = page('protocol.md');
  expect(text).toContain(`# Worker protocol, version ${shared.protocolVersion}\n`);
  const sentence = (start: string): string[] =>
    matches((text.split(start)[1] ?? '').split('.')[0] ?? '', /`([a-z-]+)`/g);
  expect(sentence('Reasons of `task:failed`').sort()).toEqual([...shared.failureReasonSchema.options].sort());
  expect(sentence('Codes of `notice`').sort()).toEqual([...shared.noticeSchema.shape.code.options].sort());
});

test('protocol.md gives the bounds and the frame layout that the code has', () => {
  const text = page('protocol.md');
  const { limits } = shared;
  expect(text).toContain(`| one socket message | ${limits.socketMessageBytes / 2 ** 20} MiB;`);
  expect(text).toContain(`| payload of one frame | ${limits.frameBytes / 1024} KiB |`);
  expect(text).toContain(`per contribution | ${limits.framesInFlight} |`);
  expect(text).toContain(
    `${limits.socketMessagesPerSecond} a second, bursts of ${limits.socketMessageBurst} |`,
  );

  const payload = Uint8Array.of(7, 8, 9);
  const bytes = shared.encodeFrame({ lease: 2 ** 40 + 5, index: 1, count: 3, payload });
  const view = new DataView(bytes.buffer);
  const fields = [...section(text, 'Frame').matchAll(/^\| (\d+)\.\.(\d+) \| ([^|,]+)/gm)].map(
    ([, from, to, name]) => [name?.trim(), Number(from), Number(to) - Number(from) + 1] as const,
  );
  const read = (start: number, width: number): bigint =>
    width === 8 ? view.getBigUint64(start, true) : BigInt(view.getUint32(start, true));
  expect(fields.map(([name, start, width]) => [name, read(start, width)])).toEqual([
    ['magic', BigInt(Buffer.from('TWF1').readUInt32LE())],
    ['reserved', 0n],
    ['lease', 2n ** 40n + 5n],
    ['index of this frame', 1n],
    ['number of frames', 3n],
    ['payload bytes', 3n],
    ['CRC-32 (IEEE) of the payload', BigInt(shared.crc32(payload))],
  ]);
  expect(bytes.byteLength).toBe(32 + 3);
});

const pages = [
  '../README.md',
  '../CONTRIBUTING.md',
  '../SECURITY.md',
  '../CHANGELOG.md',
  'architecture.md',
  'kernels.md',
  'performance.md',
  'api.md',
  'errors.md',
  'protocol.md',
];

test.each(pages)('every file that %s links to or names is there', (name) => {
  const text = page(name);
  const here = new URL(name, import.meta.url);
  const links = matches(text, /\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g).map((link) => new URL(link, here));
  const named = matches(text, /`((?:apps|packages|e2e|bench|scripts|docs)\/[\w./-]+)`/g).map(
    (path) => new URL(`../${path}`, import.meta.url),
  );
  const missing = [...links, ...named].filter((url) => !existsSync(url)).map((url) => url.pathname);
  expect(missing).toEqual([]);
});
