/** What the engine says when the device fails, on real WebGPU: nothing computed after it may be used. */
import { installNodeWebGpu } from '@tabweave/kernels/node';
import { Random, gpt2Layout, type Gpt2Config } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { describe, expect, it } from 'vitest';
import type { Engine } from './engine.ts';
import { createEngine } from './tfjs-engine.ts';

const config: Gpt2Config = {
  vocabSize: 7,
  positions: 4,
  width: 4,
  layers: 1,
  heads: 2,
  inner: 8,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const blockSize = 4;
const tokens = Int32Array.of(1, 2, 3, 4, 5, 6, 0, 1, 2, 3);

async function loadedEngine(): Promise<Engine> {
  const engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu() });
  const random = new Random(1);
  const parameters = Float32Array.from({ length: gpt2Layout(config).size }, () => 0.2 * random.normal());
  await engine.load({ config, blockSize }, parameters);
  return engine;
}

const device = (): GPUDevice => (tf.backend() as WebGPUBackend).device;

describe('a lost device', () => {
  it('in the middle of a pass is said so, and nothing is given out afterwards', async () => {
    const engine = await loadedEngine();
    engine.begin();
    await engine.accumulate(tokens, 2);
    const pass = engine.accumulate(tokens, 2);
    device().destroy();
    await expect(pass).rejects.toMatchObject({ reason: 'device-lost' });
    await expect(engine.finish()).rejects.toMatchObject({ reason: 'device-lost' });
    await expect(engine.evaluate(tokens, 2)).rejects.toMatchObject({ reason: 'device-lost' });
    expect((await engine.lost).reason).toBe('device-lost');
    engine.dispose();
  }, 120_000);

  it('is followed by a fresh engine that computes as the first did', async () => {
    const compute = async (engine: Engine) => {
      engine.begin();
      await engine.accumulate(tokens, 2);
      return engine.finish();
    };
    const first = await loadedEngine();
    const before = await compute(first);
    device().destroy();
    await first.lost;
    first.dispose();
    const second = await loadedEngine();
    expect(await compute(second)).toEqual(before);
    second.dispose();
  }, 120_000);
});

describe('memory', () => {
  it('a buffer that cannot be had is out of memory in words, and the engine works afterwards', async () => {
    const engine = await loadedEngine();
    const gpu = device();
    const original = gpu.createBuffer.bind(gpu);
    gpu.createBuffer = () => {
      // What Chromium throws when a mapped buffer cannot be allocated.
      throw new RangeError(
        'createBuffer failed, size (268435456) is too large for the implementation when mappedAtCreation == true',
      );
    };
    engine.begin();
    await expect(engine.accumulate(tokens, 2)).rejects.toMatchObject({
      reason: 'out-of-memory',
      message: expect.stringContaining('out of memory') as string,
    });
    gpu.createBuffer = original;
    engine.begin();
    await engine.accumulate(tokens, 2);
    expect((await engine.finish()).lossSum).toBeGreaterThan(0);
    engine.dispose();
  }, 120_000);

  /** Buffers as a device without memory makes them: of the size asked for, no exception, and no use. */
  function withoutMemory(): () => void {
    const gpu = device();
    const { bufferManager } = tf.backend() as unknown as {
      bufferManager: { freeBuffers: Map<string, unknown[]> };
    };
    for (const spare of bufferManager.freeBuffers.values()) spare.length = 0;
    const original = gpu.createBuffer.bind(gpu);
    gpu.createBuffer = (descriptor) => {
      if (descriptor.mappedAtCreation) return original(descriptor);
      const buffer = original({ ...descriptor, size: 2 ** 45 });
      return Object.defineProperty(buffer, 'size', { value: descriptor.size });
    };
    return () => {
      gpu.createBuffer = original;
    };
  }

  it.each(['preparing', 'loading', 'computing', 'finishing'] as const)(
    'that is not there when %s fails that alone: what comes next computes as ever',
    async (when) => {
      const usual = await loadedEngine();
      const compute = async (engine: Engine): Promise<unknown> => {
        engine.begin();
        await engine.accumulate(tokens, 2);
        return engine.finish();
      };
      const expected = await compute(usual);
      const wide = { config: { ...config, width: 8 }, blockSize };
      const random = new Random(1);
      const parameters = Float32Array.from({ length: gpt2Layout(config).size }, () => 0.2 * random.normal());
      if (when === 'finishing') {
        usual.begin();
        await usual.accumulate(tokens, 2);
      }
      const restore = withoutMemory();
      const failing = {
        preparing: () => usual.prepare(wide, 3),
        loading: () => usual.load(wide, new Float32Array(gpt2Layout(wide.config).size)),
        computing: () => usual.accumulate(tokens.slice(0, 5), 1),
        finishing: () => usual.finish(),
      };
      await expect(failing[when]()).rejects.toMatchObject({ name: 'EngineError' });
      restore();
      if (when === 'preparing') await usual.prepare(wide, 3);
      if (when === 'preparing' || when === 'loading') await usual.load({ config, blockSize }, parameters);
      expect(await compute(usual)).toEqual(expected);
      usual.dispose();
    },
    120_000,
  );

  it('no samples are bad data, and nothing is compiled for them', async () => {
    const engine = await loadedEngine();
    await expect(engine.accumulate(new Int32Array(0), 0)).rejects.toMatchObject({ reason: 'bad-data' });
    await expect(engine.prepare({ config, blockSize }, 0)).rejects.toMatchObject({ reason: 'bad-data' });
    engine.dispose();
  }, 120_000);

  it('a real allocation beyond the device is an error of the pass, not a wrong result', async () => {
    const engine = await loadedEngine();
    engine.begin();
    device().createBuffer({ size: 2 ** 40, usage: GPUBufferUsage.STORAGE });
    await expect(engine.accumulate(tokens, 2)).rejects.toMatchObject({ name: 'EngineError' });
    engine.dispose();
  }, 120_000);
});

describe('the choice of a back end', () => {
  it('falls back, and says why', async () => {
    const noGpu = { requestAdapter: () => Promise.resolve(null) } as unknown as GPU;
    const engine = await createEngine({ backend: 'auto', gpu: noGpu, wasmPath: '/nowhere/' });
    expect(engine.report.backend).toBe('cpu');
    expect(engine.report.fallbackReason).toContain('WebGPU: WebGPU finds no usable GPU');
    expect(engine.report.fallbackReason).toContain('WASM:');
    await expect(createEngine({ backend: 'webgpu', gpu: noGpu })).rejects.toThrow('no usable GPU');
  }, 120_000);
});
