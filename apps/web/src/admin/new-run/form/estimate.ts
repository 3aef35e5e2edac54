/** What a run will take, from the shared cost functions. */
import {
  encodedBytes,
  serverMemoryBytes,
  workerMemory,
  type Dataset,
  type Gpt2Config,
  type Recipe,
  type Strategy,
} from '@tabweave/shared';

export interface Estimate {
  workerFixedBytes: number;
  workerPerSampleBytes: number;
  serverBytes: number;
  /** Per optimizer step and worker. */
  downloadBytes: number;
  uploadBytes: number;
  tokensPerStep: number;
  /** How often the whole run reads the training part. */
  epochs: number;
}

export function estimate(
  config: Gpt2Config,
  parameters: number,
  recipe: Recipe,
  strategy: Strategy,
  dataset: Pick<Dataset, 'trainTokens'>,
): Estimate {
  const memory = workerMemory(config, recipe.blockSize);
  const tokensPerStep = recipe.globalBatch * recipe.blockSize;
  return {
    workerFixedBytes: memory.fixedBytes,
    workerPerSampleBytes: memory.perSampleBytes,
    serverBytes: serverMemoryBytes(parameters),
    downloadBytes: encodedBytes(parameters, strategy.parameterEncoding),
    uploadBytes: encodedBytes(parameters, strategy.gradientEncoding),
    tokensPerStep,
    epochs: (tokensPerStep * recipe.maxSteps) / Math.max(1, dataset.trainTokens),
  };
}
