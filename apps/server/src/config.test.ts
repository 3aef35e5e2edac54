import { describe, expect, it } from 'vitest';
import { readConfig, type ServerConfig } from './config.ts';

const read = (argv: string[], environment: Record<string, string> = {}): ServerConfig => {
  const config = readConfig(argv, environment);
  if (config === 'help') throw new Error('help');
  return config;
};

describe('settings', () => {
  it('come from the command line before the environment, and empty variables are not set', () => {
    expect(read([], { PORT: '', ADMIN_TOKEN: '', HTTPS: '' })).toMatchObject({
      port: 8080,
      adminToken: null,
      https: false,
      demo: true,
    });
    expect(read(['--port', '9000', '--no-demo'], { PORT: '9001', HTTPS: 'true' })).toMatchObject({
      port: 9000,
      demo: false,
      https: true,
    });
    expect(read([], { PUBLIC_URL: 'https://train.example.org/' }).publicUrl).toBe(
      'https://train.example.org',
    );
    expect(readConfig(['--help'], {})).toBe('help');
  });

  it.each<[string[], Record<string, string>, string]>([
    [['--port', '99999'], {}, '0 to 65535'],
    [[], { PORT: 'abc' }, '0 to 65535'],
    [[], { ADMIN_TOKEN: 'short' }, '8 to 200'],
    [[], { ADMIN_TOKEN: 'my secret token' }, 'none of them a space'],
    [['--public-url', 'javascript:alert(1)'], {}, 'not a URL'],
    [[], { GATHER_MS: 'abc' }, 'GATHER_MS'],
    [[], { HTTPS: 'maybe' }, '1 or 0'],
    [['--nonsense'], {}, 'nonsense'],
  ])('%j %j is refused in words', (argv, environment, words) => {
    expect(() => readConfig(argv, environment)).toThrow(words);
  });
});
