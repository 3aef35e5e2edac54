/** Tasks for tests: a small model, a token stream in two shards, and what a worker should make of them. */
import {
  Random,
  encodeVector,
  gpt2Layout,
  trainingWindow,
  type Encoding,
  type Gpt2Config,
  type ParameterEncoding,
  type Task,
} from '@tabweave/shared';
import type { ProtocolServer } from './protocol-server.ts';

export const tinyConfig: Gpt2Config = {
  vocabSize: 50,
  positions: 8,
  width: 8,
  layers: 1,
  heads: 2,
  inner: 32,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};

export const blockSize = 8;
const streamLength = 1000;
/** Not at a window's edge, so that samples cross from one shard to the next. */
const firstShard = 517;

export const stream = Uint16Array.from({ length: streamLength }, (_, i) => (i * i + 7 * i) % 50);

export function parametersOf(config: Gpt2Config, version: number): Float32Array {
  const random = new Random(version);
  return Float32Array.from({ length: gpt2Layout(config).size }, () => random.uniform() - 0.5);
}

export interface TaskChoice {
  lease: number;
  kind?: Task['kind'];
  version?: number;
  config?: Gpt2Config;
  samples?: { start: number; end: number };
  passSize?: number;
  gradientEncoding?: Encoding;
  parameterEncoding?: ParameterEncoding;
}

/** A task whose files `server` serves. */
export function makeTask(server: ProtocolServer, choice: TaskChoice): Task {
  const { config = tinyConfig, version = 0, parameterEncoding: encoding = 'float32' } = choice;
  const shard = (start: number, end: number): Task['data']['shards'][number] => {
    const { url, hash } = server.serve(new Uint8Array(stream.slice(start, end).buffer));
    return { url, hash, start, tokens: end - start };
  };
  return {
    lease: choice.lease,
    runId: 'run1',
    kind: choice.kind ?? 'train',
    version,
    config,
    parameters: { ...server.serve(encodeVector(parametersOf(config, version), encoding)), encoding },
    sampling: {
      seed: 3,
      globalBatch: 12,
      blockSize,
      train: { start: 0, end: 900 },
      validation: { start: 900, end: streamLength },
      evaluationSamples: 4,
    },
    data: { tokenBytes: 2, shards: [shard(0, firstShard), shard(firstShard, streamLength)] },
    samples: choice.samples ?? { start: 2, end: 7 },
    passSize: choice.passSize ?? 2,
    gradientEncoding: choice.gradientEncoding ?? 'float32',
    leaseMilliseconds: 20_000,
  };
}

/** The rows of a training task, read from the stream as a whole. */
export function trainingRows(task: Task): Int32Array {
  const rows: number[] = [];
  for (let index = task.samples.start; index < task.samples.end; index++) {
    const first = trainingWindow(task.sampling, task.version, index);
    rows.push(...stream.subarray(first, first + task.sampling.blockSize + 1));
  }
  return Int32Array.from(rows);
}
