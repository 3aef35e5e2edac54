/** A run as it was submitted: model, dataset, recipe and strategy, checked against each other. */
import { totalmem } from 'node:os';
import {
  ProblemError,
  countParameters,
  incompatibilities,
  limits,
  serverMemoryBytes,
  splitTokens,
  workerMemory,
  type Gpt2Config,
  type Model,
  type Recipe,
  type Sampling,
  type Strategy,
  type TextMeasures,
} from '@tabweave/shared';
import type { DatasetRow, RunRow } from '../storage/schema.ts';

export interface RunDefinition {
  id: string;
  name: string;
  description: string;
  model: Model;
  config: Gpt2Config;
  dataset: DatasetRow;
  recipe: Recipe;
  strategy: Strategy;
  sampling: Sampling;
}

export function toDefinition(row: RunRow, model: Model, dataset: DatasetRow): RunDefinition {
  const recipe = JSON.parse(row.recipe) as Recipe;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    model,
    config: model.config,
    dataset,
    recipe,
    strategy: JSON.parse(row.strategy) as Strategy,
    sampling: samplingOf(recipe, dataset),
  };
}

function samplingOf(recipe: Recipe, dataset: DatasetRow): Sampling {
  return {
    seed: recipe.seed,
    globalBatch: recipe.globalBatch,
    blockSize: recipe.blockSize,
    ...splitTokens(dataset.tokens, dataset.validation_fraction),
    evaluationSamples: recipe.evaluationSamples,
  };
}

/**
 * Checks that the parts fit each other and the server's memory.
 * @param memoryBytes what the server may use for this run.
 * @throws ProblemError INCOMPATIBLE_RUN naming every field that does not fit.
 */
export function checkCompatible(
  config: Gpt2Config,
  dataset: DatasetRow,
  recipe: Recipe,
  memoryBytes: number,
): void {
  const { train, validation } = splitTokens(dataset.tokens, dataset.validation_fraction);
  const text: TextMeasures = {
    vocabularySize: dataset.vocabulary_size,
    trainTokens: train.end - train.start,
    validationTokens: validation.end - validation.start,
  };
  const errors = incompatibilities(config, text, recipe);
  const needed = serverMemoryBytes(countParameters(config));
  if (needed > memoryBytes) {
    errors.push({
      path: 'modelId',
      message: `training needs ${mebibytes(needed)} of server memory; ${mebibytes(memoryBytes)} are free for it`,
    });
  }
  if (errors.length > 0) {
    const detail = errors.map((error) => `${error.path}: ${error.message}`).join('; ');
    throw new ProblemError('INCOMPATIBLE_RUN', `The run cannot work: ${detail}.`, errors);
  }
}

export function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20).toLocaleString('en')} MiB`;
}

/** FLOPs that one pass may cost, so that no driver's watchdog fires before the worker's rate is known. */
const passFlops = { hardware: 2e11, software: 4e9 } as const;
const largestPass = 64;

/**
 * Samples that a device can hold in one pass.
 * @returns 0 when not even one fits, with the reason.
 */
export function largestPassSize(
  definition: Pick<RunDefinition, 'config' | 'recipe'>,
  device: { memoryBytes: number; maxBufferBytes: number; software: boolean; backend: string },
): { passSize: number; reason: string } {
  const { config, recipe } = definition;
  const tokens = recipe.blockSize;
  const memory = workerMemory(config, tokens);
  const largestTensor = 4 * Math.max(config.vocabSize * config.width, config.width * config.inner);
  if (largestTensor > device.maxBufferBytes) {
    return {
      passSize: 0,
      reason: `the model's largest tensor takes ${mebibytes(largestTensor)}; this device allows ${mebibytes(device.maxBufferBytes)} in one buffer`,
    };
  }
  const byMemory = Math.floor((0.8 * device.memoryBytes - memory.fixedBytes) / memory.perSampleBytes);
  const widest = 4 * tokens * Math.max(config.vocabSize, config.heads * tokens, config.inner);
  const byBuffer = Math.floor(device.maxBufferBytes / widest);
  const fits = Math.min(byMemory, byBuffer);
  if (fits < 1) {
    const needed = memory.fixedBytes + memory.perSampleBytes;
    return {
      passSize: 0,
      reason: `one sample of this model needs about ${mebibytes(Math.max(needed, widest))}; this device offers ${mebibytes(device.memoryBytes)} (${mebibytes(device.maxBufferBytes)} in one buffer)`,
    };
  }
  const fast = device.backend === 'webgpu' && !device.software;
  const flopsPerSample = 6 * countParameters(config) * tokens;
  const byTime = Math.floor((fast ? passFlops.hardware : passFlops.software) / flopsPerSample);
  return { passSize: Math.max(1, Math.min(fits, byTime, largestPass)), reason: '' };
}

/** Share of the machine's memory that runs may fill. */
const memoryShare = 0.8;

export function memoryForRuns(): number {
  return memoryShare * totalmem();
}

/** @throws ProblemError when one more run is too many, or its memory too much beside the active ones. */
export function checkCapacity(active: readonly RunDefinition[], next: RunDefinition): void {
  if (active.length >= limits.activeRuns) {
    throw new ProblemError('TOO_MANY', `${limits.activeRuns} runs are active; pause or stop one first.`);
  }
  const used = active.reduce((sum, { model }) => sum + serverMemoryBytes(model.parameters), 0);
  const needed = serverMemoryBytes(next.model.parameters);
  const free = Math.max(0, memoryForRuns() - used);
  if (needed > free) {
    throw new ProblemError(
      'INCOMPATIBLE_RUN',
      `The run needs ${mebibytes(needed)} of server memory; ${mebibytes(free)} are free beside the active runs.`,
    );
  }
}
