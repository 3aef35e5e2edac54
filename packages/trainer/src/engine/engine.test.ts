/** The engine on every back end that runs in Node, against float64 and against itself. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { installNodeWebGpu } from '@tabweave/kernels/node';
import { Random, gpt2Layout, type Gpt2Config } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from './tfjs-engine.ts';
import type { Engine } from './engine.ts';
import { referenceGpt2 } from './reference-gpt2.testing.ts';

const config: Gpt2Config = {
  vocabSize: 13,
  positions: 9,
  width: 12,
  layers: 2,
  heads: 3,
  inner: 20,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const blockSize = 7;
const layout = gpt2Layout(config);

/** Larger than the initialisation, so that no part of the model is near linear. */
function someParameters(seed: number): Float32Array {
  const random = new Random(seed);
  const parameters = new Float32Array(layout.size);
  for (const { offset, size, initialisation } of layout.tensors) {
    const centre = initialisation.kind === 'ones' ? 1 : 0;
    for (let i = offset; i < offset + size; i++) parameters[i] = centre + 0.3 * random.normal();
  }
  return parameters;
}

function someTokens(samples: number, seed = 5): Int32Array {
  const random = new Random(seed);
  return Int32Array.from({ length: samples * (blockSize + 1) }, () => random.below(config.vocabSize));
}

function largestDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Array.from(a).reduce(
    (largest, value, i) => Math.max(largest, Math.abs(value - (b[i] as number))),
    0,
  );
}

const wasmPath = `${dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm'))}/`;

describe.each(['cpu', 'wasm', 'webgpu'] as const)('on %s', (backend) => {
  let engine: Engine;
  const parameters = someParameters(1);

  beforeAll(async () => {
    const gpu = backend === 'webgpu' ? installNodeWebGpu() : undefined;
    engine = await createEngine({ backend, wasmPath, ...(gpu ? { gpu } : {}) });
    await engine.load({ config, blockSize }, parameters);
  }, 120_000);
  afterAll(() => engine.dispose());

  it('says what it runs on', () => {
    expect(engine.report).toMatchObject({ backend, environment: 'node' });
    expect(engine.report.memoryBytes).toBeGreaterThan(1e8);
  });

  it('computes loss and every gradient of a two-layer GPT as float64 does', async () => {
    const tokens = someTokens(3);
    const reference = referenceGpt2(config, parameters, tokens, 3, blockSize);
    expect(engine.cold).toBe(true);
    engine.begin();
    await engine.accumulate(tokens, 3);
    expect(engine.cold).toBe(false);
    const { lossSum, gradientSum } = await engine.finish();
    expect(lossSum).toBeCloseTo(reference.loss, 4);
    for (const tensor of layout.tensors) {
      const range = [tensor.offset, tensor.offset + tensor.size] as const;
      const expected = reference.gradient.subarray(...range);
      const scale = Math.max(...expected.map(Math.abs));
      expect(largestDifference(gradientSum.subarray(...range), expected) / scale, tensor.name).toBeLessThan(
        1e-4,
      );
    }
  });

  it('sums passes of any size to the same as one', async () => {
    const tokens = someTokens(5);
    const row = blockSize + 1;
    const run = async (cuts: number[]) => {
      engine.begin();
      for (let i = 1; i < cuts.length; i++) {
        const [from, to] = [cuts[i - 1] as number, cuts[i] as number];
        await engine.accumulate(tokens.slice(from * row, to * row), to - from);
      }
      return engine.finish();
    };
    const whole = await run([0, 5]);
    const cut = await run([0, 2, 4, 5]);
    expect(cut.lossSum).toBeCloseTo(whole.lossSum, 4);
    const scale = Math.max(...whole.gradientSum.map(Math.abs));
    expect(largestDifference(cut.gradientSum, whole.gradientSum) / scale).toBeLessThan(1e-5);
  });

  it('gives the same bits for the same pass twice', async () => {
    const tokens = someTokens(2, 8);
    const once = async () => {
      engine.begin();
      await engine.accumulate(tokens, 2);
      return (await engine.finish()).gradientSum;
    };
    expect(await once()).toEqual(await once());
  });

  it('evaluates to the loss of training, and gives the logits of the last token', async () => {
    const tokens = someTokens(2);
    const reference = referenceGpt2(config, parameters, tokens, 2, blockSize);
    expect(await engine.evaluate(tokens, 2)).toBeCloseTo(reference.loss, 4);
    const logits = await engine.logits(tokens.slice(0, blockSize));
    const last = (blockSize - 1) * config.vocabSize;
    expect(largestDifference(logits, reference.logits.subarray(last, last + config.vocabSize))).toBeLessThan(
      1e-4,
    );
  });

  it('gives the same logits for a token whatever comes after it, and at every length', async () => {
    const ids = someTokens(1).slice(0, 6);
    const reference = referenceGpt2(config, parameters, Int32Array.of(...ids, 0, 0), 1, blockSize);
    for (let length = 1; length <= 6; length++) {
      const at = (length - 1) * config.vocabSize;
      const logits = await engine.logits(ids.slice(0, length));
      expect(
        largestDifference(logits, reference.logits.subarray(at, at + config.vocabSize)),
        `${length} tokens`,
      ).toBeLessThan(1e-4);
    }
  });

  it('holds its memory over many steps', async () => {
    const tokens = someTokens(2);
    const step = async () => {
      engine.begin();
      await engine.accumulate(tokens, 2);
      await engine.finish();
      await engine.load({ config, blockSize }, parameters);
    };
    for (let i = 0; i < 3; i++) await step();
    const [tensors, bytes] = [tf.memory().numTensors, engine.memoryBytes()];
    for (let i = 0; i < 10; i++) await step();
    expect([tf.memory().numTensors, engine.memoryBytes()]).toEqual([tensors, bytes]);
  });

  it('is cold again for another block size, and stays warm for other parameters of the same model', async () => {
    const tokens = someTokens(2);
    engine.begin();
    await engine.accumulate(tokens, 2);
    await engine.load({ config, blockSize }, someParameters(7));
    expect(engine.cold).toBe(false);
    await engine.load({ config, blockSize: blockSize - 1 }, parameters);
    expect(engine.cold).toBe(true);
    await engine.load({ config, blockSize }, parameters);
  });

  it('refuses tokens outside the vocabulary, wrong shapes and NaN, each by name', async () => {
    const tokens = someTokens(1);
    engine.begin();
    await expect(
      engine.accumulate(
        tokens.map((t, i) => (i === 2 ? 13 : t)),
        1,
      ),
    ).rejects.toMatchObject({
      reason: 'bad-data',
      message: 'token 13 is outside the vocabulary of 13',
    });
    await expect(engine.accumulate(tokens, 2)).rejects.toMatchObject({ reason: 'bad-data' });
    await expect(engine.load({ config, blockSize }, new Float32Array(3))).rejects.toMatchObject({
      reason: 'bad-data',
    });
    const poisoned = Float32Array.from(parameters);
    poisoned[layout.size - 1] = NaN;
    await engine.load({ config, blockSize }, poisoned);
    engine.begin();
    await engine.accumulate(tokens, 1);
    await expect(engine.finish()).rejects.toMatchObject({ reason: 'non-finite' });
    await engine.load({ config, blockSize }, parameters);
  });
});

describe('the float64 reference itself', () => {
  it('agrees with finite differences of its own loss in every tensor', () => {
    const parameters = Float64Array.from(someParameters(2));
    const tokens = someTokens(2, 9);
    const { gradient } = referenceGpt2(config, parameters, tokens, 2, blockSize);
    const random = new Random(4);
    const h = 1e-5;
    for (const tensor of layout.tensors) {
      for (let n = 0; n < 4; n++) {
        const i = tensor.offset + random.below(tensor.size);
        const shifted = (by: number): number => {
          const moved = Float64Array.from(parameters);
          moved[i] = (moved[i] as number) + by;
          return referenceGpt2(config, moved, tokens, 2, blockSize).loss;
        };
        const slope = (shifted(h) - shifted(-h)) / (2 * h);
        expect(gradient[i], `${tensor.name}[${i - tensor.offset}]`).toBeCloseTo(slope, 7);
      }
    }
  });
});
