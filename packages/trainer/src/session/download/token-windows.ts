/** The tokens of a task's samples, put together from the shards of the token stream. */
import { evaluationWindow, trainingWindow, type Task } from '@tabweave/shared';
import { TaskFailure } from '../failure.ts';

type Shard = Task['data']['shards'][number];

/**
 * @param readShard the bytes of one shard; asked for once each, only for shards that a sample touches.
 * @returns [samples, blockSize + 1], row major: inputs are the first blockSize of a row, targets the last.
 * @throws TaskFailure `bad-data` when shards do not cover the samples, or a token is outside the vocabulary.
 */
export async function gatherTokens(
  task: Task,
  readShard: (shard: Shard) => Promise<Uint8Array<ArrayBuffer>>,
): Promise<Int32Array> {
  const { start, end } = task.samples;
  const windowOf = task.kind === 'train' ? trainingSample : evaluationSample;
  const row = task.sampling.blockSize + 1;
  const windows = Array.from({ length: end - start }, (_, i) => windowOf(task, start + i));
  const tokens = new Int32Array(windows.length * row);
  let covered = 0;
  for (const shard of task.data.shards) {
    const touching = windows.flatMap((first, sample) => {
      const from = Math.max(first, shard.start);
      const to = Math.min(first + row, shard.start + shard.tokens);
      return from < to ? [{ from, to, target: sample * row + (from - first) }] : [];
    });
    if (touching.length === 0) continue;
    const stream = toTokens(await readShard(shard), task.data.tokenBytes, shard);
    for (const { from, to, target } of touching) {
      tokens.set(stream.subarray(from - shard.start, to - shard.start), target);
      covered += to - from;
    }
  }
  if (covered !== tokens.length) {
    throw new TaskFailure(
      'bad-data',
      `The shards cover ${covered} of the ${tokens.length} tokens of this task.`,
    );
  }
  checkVocabulary(tokens, task.config.vocabSize);
  return tokens;
}

function trainingSample(task: Task, index: number): number {
  return trainingWindow(task.sampling, task.version, index);
}

function evaluationSample(task: Task, index: number): number {
  return evaluationWindow(task.sampling, index);
}

function toTokens(bytes: Uint8Array<ArrayBuffer>, width: 2 | 4, shard: Shard): Uint16Array | Uint32Array {
  if (bytes.byteLength !== shard.tokens * width) {
    throw new TaskFailure(
      'bad-data',
      `A data shard has ${bytes.byteLength} bytes; ${shard.tokens} tokens of ${width} bytes were announced.`,
    );
  }
  return width === 2 ? new Uint16Array(bytes.buffer) : new Uint32Array(bytes.buffer);
}

function checkVocabulary(tokens: Int32Array, vocabularySize: number): void {
  for (const token of tokens) {
    if (token < 0 || token >= vocabularySize) {
      throw new TaskFailure(
        'bad-data',
        `The data contain token ${token}; the model's vocabulary ends at ${vocabularySize - 1}.`,
      );
    }
  }
}
