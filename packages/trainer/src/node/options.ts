/** What headless workers are started with, and the command line that says so. */
import { parseArgs } from 'node:util';
import type { VolunteerOptions } from '../session/index.ts';

export interface HeadlessOptions {
  /** Server address, for example `http://localhost:8080`. */
  url: string;
  /** The run to work for; null for any. @default null */
  runId?: string | null;
  /** @default 'auto': WebGPU where there is a GPU, else WASM */
  backend?: VolunteerOptions['backend'];
  /** Workers, each on a thread of its own. @default 1 */
  workers?: number;
  /** Public nickname; several workers are numbered. @default '' */
  name?: string;
  /** Share of time that the device may be busy, in (0, 1]. @default 1 */
  dutyCycle?: number;
  /** Makes every pass take this many times as long, to try out uneven workers. @default 1 */
  slow?: number;
  /** Accepts a certificate that nobody vouches for, such as that of `--https`. @default false */
  insecure?: boolean;
}

export const usage = `Usage: npm run worker -- --url ADDRESS [options]

Donates this machine's computing to a Tabweave server, without a browser.

  --url ADDRESS      the server, for example http://localhost:8080 (required)
  --run ID           work for this run only; any run otherwise
  --backend NAME     auto, webgpu, wasm or cpu (default auto: WebGPU where there is a GPU, else WASM)
  --workers N        workers, each on a thread of its own, 1 to 64 (default 1)
  --name NAME        public nickname, at most 40 characters; anonymous otherwise
  --duty SHARE       share of time that the device may be busy, above 0 and at most 1 (default 1)
  --slow FACTOR      make every pass take this many times as long, to try out uneven workers (default 1)
  --insecure         accept a self-signed certificate, as that of \`npm start -- --https\`
  --help             show this

Ctrl+C completes the present tasks and leaves; pressed again, it leaves at once.

Exit codes: 0 left as asked; 1 no worker can work (each has said why); 2 the command line is wrong.`;

/** The command line is wrong; the message says where. */
export class UsageError extends Error {}

const backends = ['auto', 'webgpu', 'wasm', 'cpu'] as const;

/** @returns null when help is asked for. @throws UsageError */
export function parseHeadlessArguments(args: string[]): Required<HeadlessOptions> | null {
  const values = readFlags(args);
  if (values.help) return null;
  if (values.url === undefined) throw new UsageError('--url is missing: the address of the server.');
  const backend = backends.find((name) => name === (values.backend ?? 'auto'));
  if (!backend) throw new UsageError(`--backend is one of ${backends.join(', ')}, not "${values.backend}".`);
  const name = values.name ?? '';
  if (name.length > 40) throw new UsageError(`--name is ${name.length} characters long; at most 40.`);
  return {
    url: readUrl(values.url),
    runId: values.run ?? null,
    backend,
    name,
    workers: readNumber(
      '--workers',
      values.workers,
      1,
      (n) => Number.isInteger(n) && n >= 1 && n <= 64,
      'a whole number from 1 to 64',
    ),
    dutyCycle: readNumber('--duty', values.duty, 1, (n) => n > 0 && n <= 1, 'a number above 0 and at most 1'),
    insecure: values.insecure ?? false,
    slow: readNumber('--slow', values.slow, 1, (n) => n >= 1 && n <= 1000, 'a number from 1 to 1000'),
  };
}

function readFlags(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args,
      options: {
        url: text,
        run: text,
        backend: text,
        workers: text,
        name: text,
        duty: text,
        slow: text,
        insecure: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new UsageError(`--url is an address that begins with http:// or https://, not "${text}".`);
  }
  return url.origin;
}

function readNumber(
  flag: string,
  text: string | undefined,
  missing: number,
  valid: (value: number) => boolean,
  what: string,
): number {
  if (text === undefined) return missing;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!valid(value)) throw new UsageError(`${flag} is ${what}, not "${text}".`);
  return value;
}
