/** At the very first start, a run waits for volunteers, so that there is something to join at once. */
import { writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { recipeSchema, strategySchema } from '@tabweave/shared';
import type { Services } from '../http/services.ts';
import type { Database } from '../storage/database.ts';
import { writeTales } from './tales.ts';

const settingKey = 'demo-created';

/** Makes the demo once in the life of a data folder; deleting it is final. */
export async function createDemoRun(database: Database, services: Services): Promise<void> {
  const done = await database
    .selectFrom('settings')
    .selectAll()
    .where('key', '=', settingKey)
    .executeTakeFirst();
  if (done) return;
  const path = join(services.temporaryFolder, 'demo-tales.txt');
  writeFileSync(path, writeTales(7, 1500));
  try {
    const dataset = await services.datasets.create({
      name: 'Tiny tales',
      description: 'Short animal tales, written by a small grammar that ships with Tabweave.',
      license: 'Public domain (CC0), made by this software',
      tokenizer: 'character',
      validationFraction: 0.1,
      path,
      tokenizerPath: null,
    });
    const model = await services.models.create({
      name: 'Tale teller',
      description: 'A very small GPT-2 that any laptop can train.',
      config: { vocab_size: dataset.vocabularySize, n_positions: 64, n_embd: 64, n_layer: 2, n_head: 4 },
    });
    const run = await services.runs.create({
      name: 'Demo: a teller of tiny tales',
      description:
        'A small language model learns to tell animal tales, letter by letter. Join with one tab or many, and watch the loss fall.',
      modelId: model.id,
      datasetId: dataset.id,
      recipe: recipeSchema.parse({
        blockSize: 64,
        globalBatch: 32,
        maxSteps: 2000,
        learningRate: 3e-3,
        warmupSteps: 50,
        evaluateEvery: 25,
        evaluationSamples: 32,
      }),
      strategy: strategySchema.parse({}),
    });
    await services.runs.start(run.id);
    await database
      .insertInto('settings')
      .values({ key: settingKey, value: run.id })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .execute();
  } finally {
    rmSync(path, { force: true });
  }
}
