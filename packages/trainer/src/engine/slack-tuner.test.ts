import { presentRuntime, tileChoices, type KernelRuntime, type TileChoices } from '@tabweave/kernels';
import { installNodeWebGpu } from '@tabweave/kernels/node';
import { Random, gpt2Layout, type Gpt2Config } from '@tabweave/shared';
import { expect, it } from 'vitest';
import { createEngine } from './tfjs-engine.ts';
import type { TileStore } from './slack-tuner.ts';

const config: Gpt2Config = {
  vocabSize: 20,
  positions: 32,
  width: 32,
  layers: 1,
  heads: 2,
  inner: 64,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const blockSize = 32;
const random = new Random(1);
const parameters = Float32Array.from({ length: gpt2Layout(config).size }, () => 0.1 * random.normal());
const tokens = Int32Array.from({ length: 8 * (blockSize + 1) }, () => random.below(20));

it('products are tuned between contributions, remembered by adapter, and change no bit of a result', async () => {
  const kept = new Map<string, TileChoices>();
  const tiles: TileStore = {
    read: async (adapter) => kept.get(adapter),
    write: async (adapter, choices) => void kept.set(adapter, choices),
  };
  const engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu(), tiles });
  await engine.load({ config, blockSize }, parameters);
  const contribution = async () => {
    engine.begin();
    await engine.accumulate(tokens, 8);
    return engine.finish();
  };
  const first = await contribution();
  const began = performance.now();
  while (kept.size === 0 && performance.now() - began < 60_000) expect(await contribution()).toEqual(first);
  const runtime = presentRuntime();
  if (!runtime) throw new Error('no runtime');
  const measured = tileChoices(runtime);
  expect(kept.get(engine.report.adapter)).toEqual(measured);
  expect(Object.keys(measured).length).toBeGreaterThan(0);
  expect(await contribution()).toEqual(first);
  engine.dispose();

  const again = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu(), tiles });
  await again.load({ config, blockSize }, parameters);
  again.begin();
  await again.accumulate(tokens, 8);
  const second = presentRuntime();
  if (!second) throw new Error('no runtime');
  expect(tileChoices(second)).toMatchObject(measured);
  expect(await again.finish()).toEqual(first);
  again.dispose();
}, 120_000);

it('a store that throws at once, or refuses, costs a measurement and no contribution', async () => {
  const broken = () => {
    throw new Error('storage is switched off');
  };
  for (const tiles of [
    { read: broken, write: broken },
    { read: async () => broken(), write: async () => broken() },
  ]) {
    const engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu(), tiles });
    await engine.load({ config, blockSize }, parameters);
    const began = performance.now();
    const losses = new Set<number>();
    const tuned = (): number => Object.keys(tileChoices(presentRuntime() as KernelRuntime)).length;
    while (tuned() === 0 && performance.now() - began < 60_000) {
      engine.begin();
      await engine.accumulate(tokens, 8);
      losses.add((await engine.finish()).lossSum);
    }
    expect(tuned()).toBeGreaterThan(0);
    expect(losses.size).toBe(1);
    engine.dispose();
  }
}, 120_000);
