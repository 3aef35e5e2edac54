import { expect, test } from 'vitest';
import { UsageError, parseHeadlessArguments, usage } from './options.ts';

test('the address is enough; everything else has a default', () => {
  expect(parseHeadlessArguments(['--url', 'http://localhost:8080/donate'])).toEqual({
    url: 'http://localhost:8080',
    runId: null,
    backend: 'auto',
    name: '',
    workers: 1,
    dutyCycle: 1,
    slow: 1,
    insecure: false,
  });
});

test('each option is read', () => {
  const args = '--url https://a.example --run abcd --backend wasm --workers 3 --name N --duty 0.25 --slow 4';
  expect(parseHeadlessArguments(args.split(' '))).toEqual({
    url: 'https://a.example',
    runId: 'abcd',
    backend: 'wasm',
    name: 'N',
    workers: 3,
    dutyCycle: 0.25,
    slow: 4,
    insecure: false,
  });
});

test.each([
  [[], '--url is missing'],
  [['--url', 'localhost:8080'], 'http://'],
  [['--url', 'ftp://a'], 'http://'],
  [['--url', 'http://a', '--workers', '0'], '--workers is a whole number from 1 to 64, not "0"'],
  [['--url', 'http://a', '--workers', '1.5'], '--workers'],
  [['--url', 'http://a', '--duty', ''], '--duty is a number above 0 and at most 1, not ""'],
  [['--url', 'http://a', '--slow', '0.5'], '--slow'],
  [['--url', 'http://a', '--backend', 'webgl'], 'auto, webgpu, wasm, cpu, not "webgl"'],
  [['--url', 'http://a', '--gpu'], '--gpu'],
  [['--url', 'http://a', 'extra'], 'extra'],
])('%j is refused in words', (args, words) => {
  expect(() => parseHeadlessArguments(args)).toThrow(UsageError);
  expect(() => parseHeadlessArguments(args)).toThrow(words);
});

test('the usage names every option that is read', () => {
  for (const option of ['url', 'run', 'backend', 'workers', 'name', 'duty', 'slow', 'insecure', 'help']) {
    expect(usage).toContain(`--${option}`);
  }
  expect(parseHeadlessArguments(['--help'])).toBeNull();
});
