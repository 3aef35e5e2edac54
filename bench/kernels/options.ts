/** The command line of the bench. */
import { parseArgs } from 'node:util';
import { modelNames, type ModelName } from './models.ts';

export const usage = `Usage: npm run bench:kernels -- [options]

  --models LIST     of ${modelNames.join(', ')}, or all (default tiny,cnn; on a GPU all)
  --only PART       steps or kernels (default both)
  --contenders LIST of the contenders' identifiers (default all)
  --rounds N        rounds of every case (default 5)
  --seconds N       how long a contender runs in one round, at least one step (default 0.5)
  --budget SECONDS  a contender that is expected to take longer on a model is left out (default 300)
  --memory GIB      a model that is expected to take more on the device is left out (default 2; on a GPU 16)
  --no-first        do not measure the first step, which takes a fresh browser for each contender
  --hardware        fail rather than fall back to the software adapter
  --software        use the software adapter even where there is a GPU
  --browser PATH    the Chromium to run
  --write-docs      put the tables into docs/performance.md and the plot beside it
  --help            this text
`;

export interface Options {
  /** null: those that suit the adapter. */
  models: ModelName[] | null;
  steps: boolean;
  kernels: boolean;
  /** null: all. */
  contenders: string[] | null;
  rounds: number;
  seconds: number;
  budget: number;
  memoryGiB: number | null;
  first: boolean;
  adapter: 'any' | 'hardware' | 'software';
  browser: string | null;
  writeDocs: boolean;
}

/** @returns null when only the usage is wanted. @throws Error in words for an option that cannot be used. */
export function readOptions(args: string[]): Options | null {
  const { values } = parseArgs({
    args,
    options: {
      models: { type: 'string' },
      only: { type: 'string' },
      contenders: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '0.5' },
      budget: { type: 'string', default: '300' },
      memory: { type: 'string' },
      'no-first': { type: 'boolean', default: false },
      hardware: { type: 'boolean', default: false },
      software: { type: 'boolean', default: false },
      browser: { type: 'string' },
      'write-docs': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (values.hardware && values.software) throw new Error('Either --hardware or --software, not both.');
  const { only } = values;
  if (only !== undefined && only !== 'steps' && only !== 'kernels') {
    throw new Error(`--only must be steps or kernels, not "${only}".`);
  }
  return {
    models: readModels(values.models),
    steps: only !== 'kernels',
    kernels: only !== 'steps',
    contenders: values.contenders?.split(',') ?? null,
    rounds: Math.ceil(positive('rounds', values.rounds)),
    seconds: positive('seconds', values.seconds),
    budget: positive('budget', values.budget),
    memoryGiB: values.memory === undefined ? null : positive('memory', values.memory),
    first: !values['no-first'],
    adapter: values.hardware ? 'hardware' : values.software ? 'software' : 'any',
    browser: values.browser ?? null,
    writeDocs: values['write-docs'],
  };
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${text}".`);
  return value;
}

function readModels(list: string | undefined): ModelName[] | null {
  if (list === undefined) return null;
  if (list === 'all') return [...modelNames];
  return list.split(',').map((name) => {
    const known = modelNames.find((candidate) => candidate === name);
    if (!known) throw new Error(`--models knows ${modelNames.join(', ')}, not "${name}".`);
    return known;
  });
}
