/** Workers on this machine: tokens per second of one, two and four, server time per task, bytes per step. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '../e2e/support/api-client.ts';
import type { ServerProcess } from '../e2e/support/server-process.ts';
import { trainingText } from '../e2e/support/text.ts';
import type { Encoding, MetricPoint, ParameterEncoding, Run } from '../packages/shared/src/index.ts';
import { inRoot, pinnedNode } from '../scripts/workspace/paths.mjs';

/** Makes workers that donate to `url`; resolves to the function that ends them. */
export type StartWorkers = (url: string, runId: string, count: number) => Promise<() => Promise<void>>;

const endless = { maxSteps: 1_000_000, evaluateEvery: 0, learningRate: 1e-3 };
/** What is trained. `small` is for tabs on a software GPU, which would take a quarter of a minute a step on the other. */
export const workloads = {
  usual: {
    shape: { n_layer: 2, n_head: 4, n_embd: 64, n_positions: 64 },
    recipe: { ...endless, blockSize: 64, globalBatch: 32 },
  },
  small: {
    shape: { n_layer: 1, n_head: 2, n_embd: 16, n_positions: 16 },
    recipe: { ...endless, blockSize: 16, globalBatch: 32 },
  },
} as const;
export type Workload = (typeof workloads)[keyof typeof workloads];

export interface ThroughputResult {
  workers: number;
  tokensPerSecond: number;
  stepMilliseconds: number;
  /** Server processor time for one accepted contribution, milliseconds; null where the system does not tell. */
  serverMillisecondsPerTask: number | null;
  steps: number;
}

/** Steps that must have had every worker before the measurement begins: compilation and the first shares. */
const warmSteps = 4;

/** @param seconds how long to measure once every worker takes part. */
export async function measureThroughput(
  server: ServerProcess,
  workers: number,
  start: StartWorkers,
  { seconds, workload }: { seconds: number; workload: Workload },
): Promise<ThroughputResult> {
  const api = new ApiClient(server);
  const { recipe } = workload;
  const run = await startRun(api, workload, {});
  const stop = await start(server.url, run.id, workers);
  try {
    const all = (point: MetricPoint): boolean => point.workers === workers;
    await untilPoints(api, run, (points) => points.filter(all).length >= warmSteps);
    const before = await observe(server, api, run);
    await sleep(1000 * seconds);
    const after = await observe(server, api, run);
    const steps = after.point.step - before.point.step;
    const milliseconds = Date.parse(after.point.at) - Date.parse(before.point.at);
    const tokens = steps * recipe.globalBatch * recipe.blockSize;
    const spent =
      before.processor === null || after.processor === null ? null : after.processor - before.processor;
    return {
      workers,
      tokensPerSecond: (1000 * tokens) / milliseconds,
      stepMilliseconds: milliseconds / steps,
      serverMillisecondsPerTask: spent === null ? null : spent / (after.tasks - before.tasks),
      steps,
    };
  } finally {
    await api.act(run.id, 'stop');
    await stop();
  }
}

export interface TrafficResult {
  gradientEncoding: Encoding;
  parameterEncoding: ParameterEncoding;
  /** Of one worker in one step. */
  bytesUp: number;
  bytesDown: number;
  /** Both together against float32 both ways. */
  shareOfFloat32: number;
  trainLoss: number;
}

/** Real steps of one worker with each encoding; the bytes are those that the server counted. */
export async function measureTraffic(
  server: ServerProcess,
  start: StartWorkers,
  workload: Workload,
): Promise<TrafficResult[]> {
  const api = new ApiClient(server);
  const results: TrafficResult[] = [];
  const pairs: [Encoding, ParameterEncoding][] = [
    ['float32', 'float32'],
    ['float16', 'float16'],
    ['int8', 'float16'],
  ];
  for (const [gradientEncoding, parameterEncoding] of pairs) {
    const run = await startRun(api, workload, { gradientEncoding, parameterEncoding });
    const stop = await start(server.url, run.id, 1);
    const [point] = (await untilPoints(api, run, (points) => points.length >= 10)).slice(9);
    const { bytes } = await api.call<{ bytes: number }>('GET', `/runs/${run.id}/parameters`);
    await api.act(run.id, 'stop');
    await stop();
    if (!point) throw new Error('the run has no tenth step');
    results.push({
      gradientEncoding,
      parameterEncoding,
      bytesUp: point.bytesUp,
      bytesDown: bytes,
      shareOfFloat32: (point.bytesUp + bytes) / (2 * run.parameterBytes),
      trainLoss: point.trainLoss,
    });
  }
  return results;
}

/** Headless workers, a process each, as `npm run worker` starts them. */
export function headlessWorkers(backend: string): StartWorkers {
  return async (url, runId, count) => {
    const script = inRoot('packages', 'trainer', 'src', 'node', 'headless.ts');
    const args = [script, '--url', url, '--run', runId, '--backend', backend];
    const children = Array.from({ length: count }, () =>
      spawn(pinnedNode, args, { stdio: ['ignore', 'ignore', 'inherit'] }),
    );
    return async () => {
      await Promise.all(children.map(end));
    };
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

async function startRun(
  api: ApiClient,
  workload: Workload,
  strategy: { gradientEncoding?: Encoding; parameterEncoding?: ParameterEncoding },
): Promise<Run> {
  const run = await api.createRun({
    name: 'bench',
    text: trainingText().slice(0, 200_000),
    config: workload.shape,
    recipe: workload.recipe,
    strategy,
  });
  return api.act(run.id, 'start');
}

async function untilPoints(
  api: ApiClient,
  run: Run,
  enough: (points: MetricPoint[]) => boolean,
): Promise<MetricPoint[]> {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const points = await api.points(run.id);
    if (enough(points)) return points;
    if (Date.now() > deadline) {
      throw new Error(`the workers do not get going: ${JSON.stringify(await api.run(run.id))}`);
    }
    await sleep(50);
  }
}

interface Observation {
  point: MetricPoint;
  /** Accepted contributions so far. */
  tasks: number;
  /** Processor time of the server so far, milliseconds. */
  processor: number | null;
}

async function observe(server: ServerProcess, api: ApiClient, run: Run): Promise<Observation> {
  const point = (await api.points(run.id)).at(-1);
  if (!point) throw new Error('the run has no step yet');
  const workers = await api.workers(run.id);
  const tasks = workers.reduce((sum, worker) => sum + worker.acceptedContributions, 0);
  return { point, tasks, processor: processorMilliseconds(server.pid) };
}

/** User and system time of a process so far (Linux: proc(5), fields 14 and 15 of stat, in ticks of 10 ms). */
function processorMilliseconds(pid: number): number | null {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return null;
  const afterName = readFileSync(path, 'utf8').split(') ').at(-1) ?? '';
  const fields = afterName.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}
