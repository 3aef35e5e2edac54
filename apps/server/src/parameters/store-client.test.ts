import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeVector, gpt2Layout, recipeSchema } from '@tabweave/shared';
import { expect, it } from 'vitest';
import { snapshotVersions } from './snapshot.ts';
import { StoreClient } from './store-client.ts';

const config = {
  vocabSize: 3,
  positions: 2,
  width: 2,
  layers: 1,
  heads: 1,
  inner: 2,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const recipe = recipeSchema.parse({ blockSize: 2, globalBatch: 1, maxSteps: 1000 });
const gradient = Float32Array.from({ length: gpt2Layout(config).size }, (_, i) => Math.sin(i + 1));

it('a snapshot never covers a step whose commit has not been answered: a kill leaves its history to be replayed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tabweave-client-'));
  const options = { folder, config, recipe, parameterEncoding: 'float32' } as const;
  const store = new StoreClient(options);
  await store.open();
  let newest = 0;
  for (let version = 0; version < 12; version++) {
    await store.add({ bytes: encodeVector(gradient, 'float32'), encoding: 'float32', samples: 1 });
    await store.commit({ step: version + 1 });
    newest = Math.max(...snapshotVersions(folder));
    expect(newest).toBeLessThan(version + 1);
  }
  expect(newest).toBeGreaterThan(0);
  const again = new StoreClient(options);
  const opened = await again.open();
  expect(opened.version).toBe(12);
  expect(opened.replayed.map((step) => step.meta).at(-1)).toEqual({ step: 12 });
  await again.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
