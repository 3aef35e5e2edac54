/** Captured steps on a real device: the same as operation by operation, flat in memory, honest about a lost device. */
import { installNodeWebGpu } from '@tabweave/kernels/node';
import { presentRuntime, switchOff, switchedOff } from '@tabweave/kernels';
import {
  Random,
  decodeVector,
  encodeVector,
  gpt2Layout,
  type Encoding,
  type Gpt2Config,
} from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { afterEach, describe, expect, it } from 'vitest';
import { createEngine, type EngineOptions } from './tfjs-engine.ts';
import type { Engine } from './engine.ts';

const config: Gpt2Config = {
  vocabSize: 11,
  positions: 6,
  width: 8,
  layers: 2,
  heads: 2,
  inner: 12,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const blockSize = 5;
const { size } = gpt2Layout(config);
const random = new Random(3);
const parameters = Float32Array.from({ length: size }, () => 0.3 * random.normal());
const tokensOf = (samples: number, seed = 1): Int32Array => {
  const source = new Random(seed);
  return Int32Array.from({ length: samples * (blockSize + 1) }, () => source.below(config.vocabSize));
};
const device = (): GPUDevice => (tf.backend() as WebGPUBackend).device;

let engine: Engine | null = null;
async function loaded(options: Partial<EngineOptions> = {}): Promise<Engine> {
  engine?.dispose();
  engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu(), ...options });
  await engine.load({ config, blockSize }, parameters);
  return engine;
}
afterEach(() => {
  engine?.dispose();
  engine = null;
});

async function step(
  on: Engine,
  ...passes: number[]
): Promise<{ lossSum: number; gradientSum: Float32Array }> {
  on.begin();
  for (const [index, samples] of passes.entries()) await on.accumulate(tokensOf(samples, index), samples);
  return on.finish();
}

describe('a captured step', () => {
  it('gives the same bits as operation by operation, pass for pass and within rounding for their sum', async () => {
    const ops = await loaded({ captured: false });
    const [one, several, evaluated] = [
      await step(ops, 3),
      await step(ops, 2, 1, 2),
      await ops.evaluate(tokensOf(2), 2),
    ];
    const captured = await loaded();
    expect(await step(captured, 3)).toEqual(one);
    const sum = await step(captured, 2, 1, 2);
    expect(sum.lossSum).toBeCloseTo(several.lossSum, 5);
    sum.gradientSum.forEach((value, i) =>
      expect(Math.abs(value - (several.gradientSum[i] as number))).toBeLessThan(1e-5),
    );
    expect(await captured.evaluate(tokensOf(2), 2)).toBe(evaluated);
    expect(await step(captured, 3), 'after evaluation and other sizes').toEqual(one);
  });

  it('takes other parameters without being recorded again', async () => {
    const captured = await loaded();
    const first = await step(captured, 2);
    const other = parameters.map((value) => value * 0.5);
    await captured.load({ config, blockSize }, other);
    const second = await step(captured, 2);
    expect(second.lossSum).not.toBe(first.lossSum);
    await captured.load({ config, blockSize }, parameters);
    expect(await step(captured, 2)).toEqual(first);
  });

  it('is ready before the parameters are, when it was prepared', async () => {
    const reference = await step(await loaded(), 2);
    engine?.dispose();
    engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu() });
    const preparing = engine.prepare({ config, blockSize }, 2);
    const loading = engine.load({ config, blockSize }, parameters);
    await Promise.all([preparing, loading]);
    const runtime = presentRuntime();
    if (!runtime) throw new Error('no runtime');
    const compiled: string[] = [];
    const describe = device().createComputePipelineAsync.bind(device());
    device().createComputePipelineAsync = (descriptor) => {
      compiled.push(descriptor.label ?? '');
      return describe(descriptor);
    };
    expect(await step(engine, 2)).toEqual(reference);
    expect(compiled).toEqual([]);
  });

  it('refuses to give out sums of nothing, and parameters that never came', async () => {
    const captured = await loaded();
    await expect(captured.finish()).rejects.toMatchObject({ reason: 'internal' });
    captured.dispose();
    engine = await createEngine({ backend: 'webgpu', gpu: installNodeWebGpu() });
    await engine.prepare({ config, blockSize }, 1);
    await expect(engine.accumulate(tokensOf(1), 1)).rejects.toMatchObject({ reason: 'internal' });
  });

  it('is recorded with twins for kernels that are switched off, and gives the same', async () => {
    const reference = await step(await loaded(), 2);
    const captured = await loaded();
    for (const name of ['attention-backward', 'layer-norm-forward', 'cross-entropy', 'gelu-backward']) {
      switchOff(name, 'a test');
    }
    const sum = await step(captured, 2);
    expect(sum.lossSum).toBeCloseTo(reference.lossSum, 4);
    sum.gradientSum.forEach((value, i) => {
      expect(Math.abs(value - (reference.gradientSum[i] as number))).toBeLessThan(1e-4);
    });
  });

  it('goes on with the twin of a kernel that the device refuses to compile, and says which', async () => {
    const reference = await step(await loaded(), 2);
    const captured = await loaded();
    const gpu = device();
    const compile = gpu.createComputePipelineAsync.bind(gpu);
    gpu.createComputePipelineAsync = (descriptor) =>
      descriptor.label === 'attention-forward'
        ? Promise.reject(new Error('the driver does not like this'))
        : compile(descriptor);
    const sum = await step(captured, 2);
    expect(switchedOff()).toEqual([
      {
        name: 'attention-forward',
        reason: expect.stringContaining('the driver does not like this') as string,
      },
    ]);
    expect(sum.lossSum).toBeCloseTo(reference.lossSum, 4);
  });

  it('falls back to operations where the kernel that adds to the sums is wrong here, or does not compile', async () => {
    const reference = await step(await loaded({ captured: false }), 2);
    const without = await loaded();
    for (const name of ['add', 'accumulate', 'zero', 'layer-norm-backward']) switchOff(name, 'a test');
    const sum = await step(without, 2);
    expect(sum.lossSum).toBeCloseTo(reference.lossSum, 4);
    const refused = await loaded();
    switchOff('layer-norm-backward', 'a test');
    const gpu = device();
    const compile = gpu.createComputePipelineAsync.bind(gpu);
    gpu.createComputePipelineAsync = (descriptor) =>
      descriptor.label === 'accumulate' ? Promise.reject(new Error('no')) : compile(descriptor);
    expect((await step(refused, 2)).lossSum).toBeCloseTo(reference.lossSum, 4);
  });

  it('falls back to operations where it cannot be recorded at all', async () => {
    const reference = await step(await loaded({ captured: false }), 2);
    const captured = await loaded();
    const gpu = device();
    // Recorded steps alone compile asynchronously.
    gpu.createComputePipelineAsync = () => Promise.reject(new Error('no'));
    const original = presentRuntime();
    if (!original) throw new Error('no runtime');
    original.prepare = () => Promise.reject(new Error('no pipeline today'));
    expect(await step(captured, 2)).toEqual(reference);
  });
});

describe('memory', () => {
  it('is flat over 1,000 training steps, of tensors and of the device', async () => {
    const captured = await loaded({ packOnDevice: true, tune: false });
    const once = async (): Promise<void> => {
      captured.begin();
      await captured.accumulate(tokensOf(2), 2);
      const { accepted } = await captured.finishEncoded('run', 'int8');
      accepted();
    };
    for (let i = 0; i < 5; i++) await once();
    const gpu = device();
    let made = 0;
    const create = gpu.createBuffer.bind(gpu);
    gpu.createBuffer = (descriptor) => {
      made++;
      return create(descriptor);
    };
    const before = { ...tf.memory(), ours: captured.memoryBytes() };
    for (let i = 0; i < 1000; i++) await once();
    const after = { ...tf.memory(), ours: captured.memoryBytes() };
    expect(after).toEqual(before);
    expect(made, 'buffers made in 1,000 steps').toBe(0);
  }, 120_000);

  it('comes back when another model is loaded', async () => {
    const captured = await loaded();
    await step(captured, 2);
    const before = tf.memory().numTensors;
    await captured.load(
      { config: { ...config, layers: 1 }, blockSize },
      parameters.slice(0, gpt2Layout({ ...config, layers: 1 }).size),
    );
    await step(captured, 2);
    await captured.load({ config, blockSize }, parameters);
    await step(captured, 2);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('a contribution packed on the device', () => {
  it.each<Encoding>(['float16', 'int8'])(
    'as %s is what the CPU would send, and carries what was left out',
    async (encoding) => {
      const captured = await loaded({ packOnDevice: true });
      const plain = await step(captured, 2);
      const residual = new Float64Array(size);
      for (let round = 0; round < 3; round++) {
        captured.begin();
        await captured.accumulate(tokensOf(2, 0), 2);
        const { bytes, lossSum, accepted } = await captured.finishEncoded('run', encoding);
        expect(lossSum).toBe(plain.lossSum);
        const wanted = plain.gradientSum.map((value, i) => Math.fround(value + (residual[i] as number)));
        expect(bytes, `round ${round}`).toEqual(encodeVector(wanted, encoding));
        const arrived = new Float32Array(size);
        decodeVector(bytes, encoding, arrived);
        // One that the server did not count changes nothing.
        if (round === 1) continue;
        accepted();
        wanted.forEach((value, i) => (residual[i] = Math.fround(value - (arrived[i] as number))));
      }
      captured.begin();
      await captured.accumulate(tokensOf(2, 0), 2);
      const other = await captured.finishEncoded('another run', encoding);
      expect(other.bytes).toEqual(encodeVector(plain.gradientSum, encoding));
    },
  );

  it('reads back no more than travels', async () => {
    const captured = await loaded({ packOnDevice: true });
    captured.begin();
    await captured.accumulate(tokensOf(2), 2);
    await captured.accumulate(tokensOf(2), 2);
    const gpu = device();
    const mapped: number[] = [];
    const create = gpu.createBuffer.bind(gpu);
    gpu.createBuffer = (descriptor) => {
      if ((descriptor.usage & GPUBufferUsage.MAP_READ) !== 0) mapped.push(descriptor.size);
      return create(descriptor);
    };
    const { bytes } = await captured.finishEncoded('run', 'int8');
    expect(mapped).toEqual([4 * Math.ceil(bytes.byteLength / 4) + 4]);
  });

  it('that is refused leaves nothing behind, and an answer that comes twice or too late changes nothing', async () => {
    const captured = await loaded({ packOnDevice: true, tune: false });
    const once = async (): Promise<() => void> => {
      captured.begin();
      await captured.accumulate(tokensOf(2), 2);
      return (await captured.finishEncoded('run', 'int8')).accepted;
    };
    for (let i = 0; i < 3; i++) await once();
    const before = tf.memory().numTensors;
    const late = await once();
    for (let i = 0; i < 5; i++) await once();
    expect(tf.memory().numTensors).toBe(before);
    late();
    const accepted = await once();
    accepted();
    accepted();
    expect(tf.memory().numTensors).toBe(before);
    await captured.load(
      { config: { ...config, layers: 1 }, blockSize },
      parameters.slice(0, gpt2Layout({ ...config, layers: 1 }).size),
    );
    accepted();
    await captured.load({ config, blockSize }, parameters);
    await once();
  });

  it('that is not finite is an error, not bytes', async () => {
    const captured = await loaded({ packOnDevice: true });
    await captured.load(
      { config, blockSize },
      parameters.map((value, i) => (i === size - 1 ? NaN : value)),
    );
    captured.begin();
    await captured.accumulate(tokensOf(1), 1);
    await expect(captured.finishEncoded('run', 'float16')).rejects.toMatchObject({ reason: 'non-finite' });
  });
});

describe('a device destroyed in the middle of a step', () => {
  it.each(['before the replay', 'after it', 'during the read-back'])(
    '%s gives an error and never a contribution',
    async (when) => {
      const captured = await loaded({ packOnDevice: true });
      await step(captured, 2);
      captured.begin();
      const gpu = device();
      let result: Promise<unknown>;
      if (when === 'before the replay') {
        gpu.destroy();
        result = captured.accumulate(tokensOf(2), 2);
      } else if (when === 'after it') {
        result = captured.accumulate(tokensOf(2), 2);
        gpu.destroy();
      } else {
        await captured.accumulate(tokensOf(2), 2);
        result = captured.finishEncoded('run', 'int8');
        gpu.destroy();
      }
      await expect(result).rejects.toMatchObject({ reason: 'device-lost' });
      await expect(captured.finishEncoded('run', 'int8')).rejects.toMatchObject({ reason: 'device-lost' });
      expect((await captured.lost).reason).toBe('device-lost');
      const fresh = await loaded();
      expect((await step(fresh, 2)).lossSum).toBeGreaterThan(0);
    },
  );
});
