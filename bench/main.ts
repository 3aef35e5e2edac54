/**
 * `npm run bench`: what training costs on this machine. Prints a report and writes bench/results/*.json.
 * A real server process and real workers; nothing is simulated, so figures move with whatever else runs here.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { ServerProcess } from '../e2e/support/server-process.ts';
import { inRoot } from '../scripts/workspace/paths.mjs';
import { measureCommit } from './commit.ts';
import {
  headlessWorkers,
  measureThroughput,
  measureTraffic,
  workloads,
  type ThroughputResult,
} from './fleet.ts';

const usage = `Usage: npm run bench -- [options]

  --seconds N     how long to measure each number of workers (default 15)
  --backend NAME  back end of the headless workers: wasm, webgpu or cpu (default wasm)
  --browser       tabs of a real Chromium (WebGPU) instead of headless workers, on a smaller model
  --help          this text
`;

/** A step of 25 million parameters may hold the event loop no longer than this. */
const blockBoundMilliseconds = 50;

function readOptions(): { seconds: number; backend: string; browser: boolean } | null {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '15' },
      backend: { type: 'string', default: 'wasm' },
      browser: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds must be a number above 0, not "${values.seconds}".`);
  return values.help ? null : { seconds, backend: values.backend, browser: values.browser };
}

async function main(): Promise<void> {
  const options = readOptions();
  if (!options) return void process.stdout.write(usage);
  const machine = {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  };
  const workload = options.browser ? workloads.small : workloads.usual;
  const kind = options.browser ? 'Chromium tabs, WebGPU' : `headless workers, ${options.backend}`;
  console.log(
    `${machine.processor}, ${machine.cores} cores; ${kind}; GPT-2 ${JSON.stringify(workload.shape)}\n`,
  );

  const fleet = options.browser ? await (await import('./browser-workers.ts')).browserWorkers() : null;
  const start = fleet?.start ?? headlessWorkers(options.backend);
  const server = await ServerProcess.start({ DEMO: '0', GATHER_MS: '0' });
  try {
    const throughput: ThroughputResult[] = [];
    for (const workers of [1, 2, 4]) {
      const result = await measureThroughput(server, workers, start, { seconds: options.seconds, workload });
      throughput.push(result);
      console.log(throughputLine(result, throughput[0] ?? result));
    }
    console.log('');
    const traffic = await measureTraffic(server, start, workload);
    for (const row of traffic) {
      const names = `gradients ${row.gradientEncoding}, parameters ${row.parameterEncoding}`;
      const bytes = `${kibibytes(row.bytesUp)} up, ${kibibytes(row.bytesDown)} down a step`;
      console.log(
        `${names}: ${bytes}, ${percent(row.shareOfFloat32)} of float32; loss ${row.trainLoss.toFixed(4)}`,
      );
    }
    const commit = await measureCommit();
    const block = commit.blockMilliseconds.toFixed(1);
    console.log(
      `\n${(commit.parameters / 1e6).toFixed(1)} M parameters: a step commits in ` +
        `${commit.commitMilliseconds.toFixed(0)} ms, beside the event loop, which is held for ${block} ms at most ` +
        `(bound ${blockBoundMilliseconds} ms)`,
    );
    const file = save({ at: new Date().toISOString(), machine, kind, workload, throughput, traffic, commit });
    console.log(`\nWritten to ${file}`);
    if (commit.blockMilliseconds >= blockBoundMilliseconds) {
      console.error(`FAILED: the event loop was held for ${block} ms.`);
      process.exitCode = 1;
    }
  } finally {
    await fleet?.close();
    await server.dispose();
  }
}

function throughputLine(result: ThroughputResult, solo: ThroughputResult): string {
  const { workers, tokensPerSecond, stepMilliseconds, serverMillisecondsPerTask } = result;
  const sum = workers * solo.tokensPerSecond;
  const server =
    serverMillisecondsPerTask === null ? '' : `, server ${serverMillisecondsPerTask.toFixed(1)} ms a task`;
  return (
    `${workers} worker${workers === 1 ? ' ' : 's'}: ${tokensPerSecond.toFixed(0)} tokens/s ` +
    `(${percent(tokensPerSecond / sum)} of ${workers} alone), step ${stepMilliseconds.toFixed(0)} ms${server}`
  );
}

function save(results: object): string {
  const folder = inRoot('bench', 'results');
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/${new Date().toISOString().replace(/[:.]/g, '-')}.json`;
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  return file;
}

const kibibytes = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

await main();
