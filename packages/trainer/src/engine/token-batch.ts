/** Tokens as the engine is given them, split into what a pass reads. */
import { EngineError, type LoadedModel } from './engine.ts';
import type { TokenBatch } from './passes.ts';

/**
 * @param tokens [samples, blockSize + 1], row major: inputs are the first blockSize of a row, targets the last.
 * @throws EngineError `bad-data`.
 */
export function splitTokens(
  { config, blockSize }: LoadedModel,
  tokens: Int32Array,
  samples: number,
): TokenBatch {
  if (!(samples >= 1))
    throw new EngineError('bad-data', `${samples} samples for a pass: there must be one at least`);
  const row = blockSize + 1;
  if (tokens.length !== samples * row) {
    throw new EngineError('bad-data', `${tokens.length} tokens, not ${samples} rows of ${row}`);
  }
  checkTokens(tokens, config.vocabSize);
  const inputs = new Int32Array(samples * blockSize);
  const targets = new Int32Array(samples * blockSize);
  for (let sample = 0; sample < samples; sample++) {
    const start = sample * row;
    inputs.set(tokens.subarray(start, start + blockSize), sample * blockSize);
    targets.set(tokens.subarray(start + 1, start + row), sample * blockSize);
  }
  return { inputs, targets, samples };
}

/** @throws EngineError `bad-data`. */
export function checkTokens(tokens: Int32Array, vocabSize: number): void {
  for (const token of tokens) {
    if (token < 0 || token >= vocabSize) {
      throw new EngineError('bad-data', `token ${token} is outside the vocabulary of ${vocabSize}`);
    }
  }
}
