/** The loss of a checkpoint, computed in Node by the trainer's engine: no server, no browser. */
import {
  evaluationSampleCount,
  evaluationWindow,
  splitTokens,
  type Recipe,
  type Sampling,
} from '@tabweave/shared';
import { createEngine } from '@tabweave/trainer';
import type { Checkpoint } from './checkpoint.ts';

/** Mean loss over the evaluation windows of a dataset that keeps its last tenth for validation. */
export async function validationLoss(
  { config, parameters }: Checkpoint,
  recipe: Recipe,
  tokens: readonly number[],
): Promise<number> {
  const { seed, globalBatch, blockSize, evaluationSamples } = recipe;
  const sampling: Sampling = {
    seed,
    globalBatch,
    blockSize,
    evaluationSamples,
    ...splitTokens(tokens.length, 0.1),
  };
  const samples = evaluationSampleCount(sampling);
  const rows = new Int32Array(samples * (blockSize + 1));
  for (let index = 0; index < samples; index++) {
    const start = evaluationWindow(sampling, index);
    rows.set(tokens.slice(start, start + blockSize + 1), index * (blockSize + 1));
  }
  const engine = await createEngine({ backend: 'cpu' });
  try {
    await engine.load({ config, blockSize }, parameters);
    return (await engine.evaluate(rows, samples)) / samples;
  } finally {
    engine.dispose();
  }
}
