/**
 * Every operation on our kernels: values against its definition in float64, gradients against central differences of
 * that, and both against its twin on the plain JavaScript back end; in the form for software adapters and in the forms
 * for GPUs, with and without subgroups.
 */
import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import { KernelRuntime, registerRuntime } from '../kernel/runtime.ts';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from '../testing/device.ts';
import * as twins from '../twins/index.ts';
import * as reference from '../testing/references.ts';
import { selfAttention } from './attention.ts';
import { crossEntropySum } from './cross-entropy.ts';
import { embedding, embeddingWithPositions } from './embedding.ts';
import { gelu } from './gelu.ts';
import { linear, swiglu } from './linear.ts';
import { layerNorm, rmsNorm } from './norm.ts';
import { rotary } from './rotary.ts';

const present = useDevice();
type Vector = Float64Array;

interface Case {
  shapes: number[][];
  /** Spread of the inputs. */
  spread?: number;
  run: (...inputs: tf.Tensor[]) => tf.Tensor;
  reference: (...inputs: Vector[]) => Vector;
}

type Random = () => number;
const between = (random: Random, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
const pick = <T>(random: Random, ...options: T[]): T => options[between(random, 0, options.length - 1)] as T;
const ids = (values: number[]): tf.Tensor1D => tf.tensor1d(values, 'int32');

const operations: Record<string, (random: Random) => Case> = {
  'layer norm': (random) => {
    const [rows, columns] = [between(random, 1, 70), between(random, 1, 40)];
    return {
      shapes: [[rows, columns], [columns], [columns]],
      run: (x, g, b) => layerNorm(x as tf.Tensor2D, g as tf.Tensor1D, b as tf.Tensor1D, 1e-3),
      reference: (x, g, b) => reference.normReference(x, g, b, 1e-3),
    };
  },
  'RMS norm': (random) => {
    const [rows, columns] = [between(random, 1, 70), between(random, 1, 40)];
    return {
      shapes: [[rows, columns], [columns]],
      run: (x, g) => rmsNorm(x as tf.Tensor2D, g as tf.Tensor1D, 1e-3),
      reference: (x, g) => reference.normReference(x, g, null, 1e-3),
    };
  },
  linear: (random) => {
    const [rows, inner, outer] = [between(random, 1, 20), between(random, 1, 20), between(random, 1, 20)];
    const activation = pick(random, 'none' as const, 'gelu' as const);
    return {
      shapes: [[rows, inner], [inner, outer], [outer]],
      run: (x, w, b) => linear(x as tf.Tensor2D, w as tf.Tensor2D, b as tf.Tensor1D, activation),
      reference: (x, w, b) =>
        reference.matMulReference(x, w, rows, inner, outer).map((value, i) => {
          const sum = value + (b[i % outer] as number);
          return activation === 'gelu' ? reference.geluReference(sum) : sum;
        }),
    };
  },
  'linear without bias, SwiGLU': (random) => {
    const [rows, inner, outer] = [between(random, 1, 12), between(random, 1, 12), between(random, 1, 12)];
    return {
      shapes: [
        [rows, inner],
        [inner, 2 * outer],
      ],
      run: (x, w) => linear(x as tf.Tensor2D, w as tf.Tensor2D, null, 'swiglu'),
      reference: (x, w) =>
        reference.swigluReference(reference.matMulReference(x, w, rows, inner, 2 * outer), outer),
    };
  },
  SwiGLU: (random) => {
    const [rows, columns] = [between(random, 1, 20), between(random, 1, 20)];
    return {
      shapes: [[rows, 2 * columns]],
      spread: 20,
      run: (x) => swiglu(x as tf.Tensor2D),
      reference: (x) => reference.swigluReference(x, columns),
    };
  },
  GELU: (random) => ({
    shapes: [[between(random, 1, 9), between(random, 1, 90)]],
    spread: 4,
    run: (x) => gelu(x),
    reference: (x) => x.map(reference.geluReference),
  }),
  'self-attention': (random) => {
    const keyValueHeads = between(random, 1, 2);
    const sizes = {
      samples: between(random, 1, 2),
      tokens: between(random, 1, 9),
      heads: keyValueHeads * between(random, 1, 2),
      keyValueHeads,
      headWidth: pick(random, 4, 8, 16),
    };
    const columns = (sizes.heads + 2 * keyValueHeads) * sizes.headWidth;
    return {
      shapes: [[sizes.samples * sizes.tokens, columns]],
      run: (qkv) => selfAttention(qkv as tf.Tensor2D, sizes),
      reference: (qkv) => reference.attentionReference(qkv, sizes),
    };
  },
  embedding: (random) => {
    const [entries, columns, rows] = [between(random, 1, 12), between(random, 1, 9), between(random, 1, 40)];
    const rowIds = Array.from({ length: rows }, () => between(random, 0, entries - 1));
    return {
      shapes: [[entries, columns]],
      run: (table) => embedding(table as tf.Tensor2D, ids(rowIds)),
      reference: (table) =>
        Float64Array.from(rowIds.flatMap((id) => [...table.subarray(id * columns, (id + 1) * columns)])),
    };
  },
  'embedding with positions': (random) => {
    const [entries, columns, tokens, samples] = [
      between(random, 1, 12),
      between(random, 1, 9),
      between(random, 1, 8),
      between(random, 1, 3),
    ];
    const rowIds = Array.from({ length: samples * tokens }, () => between(random, 0, entries - 1));
    return {
      shapes: [
        [entries, columns],
        [tokens + between(random, 0, 3), columns],
      ],
      run: (table, places) =>
        embeddingWithPositions(table as tf.Tensor2D, places as tf.Tensor2D, ids(rowIds), tokens),
      reference: (table, places) =>
        Float64Array.from(
          rowIds.flatMap((id, row) =>
            Array.from(
              { length: columns },
              (_, i) =>
                (table[id * columns + i] as number) + (places[(row % tokens) * columns + i] as number),
            ),
          ),
        ),
    };
  },
  'cross-entropy': (random) => {
    const [rows, classes] = [between(random, 1, 20), between(random, 2, 40)];
    const labels = Array.from({ length: rows }, () =>
      random() < 0.2 ? -1 : between(random, 0, classes - 1),
    );
    return {
      shapes: [[rows, classes]],
      spread: 6,
      run: (logits) => crossEntropySum(logits as tf.Tensor2D, ids(labels), 0.25),
      reference: (logits) => reference.crossEntropyReference(logits, labels, 0.25),
    };
  },
  'rotary embedding': (random) => {
    const shape = {
      samples: between(random, 1, 2),
      tokens: between(random, 1, 9),
      heads: between(random, 1, 3),
      headWidth: 2 * between(random, 1, 8),
      base: 10_000,
    };
    return {
      shapes: [[shape.samples * shape.tokens, shape.heads * shape.headWidth]],
      run: (x) => rotary(x as tf.Tensor2D, shape),
      reference: (x) => reference.rotaryReference(x, shape),
    };
  },
};

interface Outcome {
  value: Float32Array;
  gradients: Float32Array[];
}

async function evaluate(
  { shapes, run }: Case,
  inputs: Float32Array[],
  weights: Float32Array,
): Promise<Outcome> {
  const tensors = inputs.map((values, i) => tf.tensor(values, shapes[i]));
  const value = run(...tensors);
  const seed = tf.tensor(weights, value.shape);
  const gradients = tf.grads((...all: tf.Tensor[]) => run(...all))(tensors, seed);
  const [first, ...rest] = await read([value, ...gradients]);
  tf.dispose([...tensors, seed]);
  return { value: first as Float32Array, gradients: rest };
}

const forms: Record<string, Partial<DeviceTraits>> = {
  'a software adapter': { software: true },
  'a GPU without subgroups': { software: false, subgroups: false },
  'a GPU with subgroups': { software: false },
};

describe.each(Object.entries(forms))('as for %s', (form, traits) => {
  it.each(Object.entries(operations))('%s is right, and so are its gradients', async (name, make) => {
    const { runtime } = present();
    registerRuntime(new KernelRuntime(runtime.backend, { ...runtime.traits, ...traits }));
    try {
      const trials = traits.software ? 6 : 2;
      for (let trial = 0; trial < trials; trial++) {
        const random = randomNumbers(1000 * trial + name.length);
        const test = make(random);
        const size = (shape: number[]): number => shape.reduce((a, b) => a * b, 1);
        const inputs = test.shapes.map((shape) => randomVector(size(shape), random, test.spread ?? 1));
        const exact = inputs.map((values) => Float64Array.from(values));
        const expected = test.reference(...exact);
        const weights = randomVector(expected.length, random);
        const got = await evaluate(test, inputs, weights);
        const told = `${name} on ${form}, trial ${trial}, ${JSON.stringify(test.shapes)}`;
        expect(relativeError(got.value, expected), told).toBeLessThan(2e-5);
        for (const [i, slope] of reference.slopes(test.reference, exact, weights).entries()) {
          expect(
            relativeError(got.gradients[i] as Float32Array, slope, 1e-3),
            `${told}, input ${i}`,
          ).toBeLessThan(1e-4);
        }
        if (!traits.software || trial > 1) continue;
        await tf.setBackend('cpu');
        const twin = await evaluate(test, inputs, weights);
        await tf.setBackend('webgpu');
        expect(relativeError(got.value, twin.value), `${told}, twin`).toBeLessThan(2e-5);
        twin.gradients.forEach((gradient, i) => {
          expect(
            relativeError(got.gradients[i] as Float32Array, gradient, 1e-3),
            `${told}, twin, input ${i}`,
          ).toBeLessThan(1e-4);
        });
      }
    } finally {
      registerRuntime(runtime);
    }
  });
});

describe('extreme values', () => {
  it('of logits neither overflow nor lose the loss', async () => {
    const logits = [1e4, -1e4, 0, 3e37, 3e37, -3e37, 0, 0, 0, -1e-40, 1e-40, 0];
    const labels = [1, 0, 2, 1];
    const x = tf.tensor2d(logits, [4, 3]);
    const [loss] = await read([crossEntropySum(x, ids(labels), 1)]);
    const expected = reference.crossEntropyReference(Float64Array.from(logits), labels, 1)[0] as number;
    expect(relativeError(loss as Float32Array, [expected])).toBeLessThan(1e-6);
    const [slope] = await read([
      tf.grad((l: tf.Tensor) => crossEntropySum(l as tf.Tensor2D, ids(labels), 1))(x),
    ]);
    expect((slope as Float32Array).every(Number.isFinite)).toBe(true);
    expect(Array.from((slope as Float32Array).subarray(0, 3))).toEqual([1, -1, 0]);
  });

  it('go through GELU and its gradient as through the definition', async () => {
    const values = [
      -1e30, -1e4, -88, -11, -10.01, -9.99, -3, -1e-3, -1e-40, 0, 1e-40, 1e-3, 3, 9.99, 10.01, 11, 88, 1e4,
      1e30,
    ];
    const x = tf.tensor1d(values);
    const [y, slope] = await read([gelu(x), tf.grad((t: tf.Tensor) => gelu(t))(x)]);
    values.forEach((value, i) => {
      const expected = Math.abs(value) > 20 ? Math.max(value, 0) : reference.geluReference(value);
      expect(Math.abs((y?.[i] as number) - Math.fround(expected)), `GELU(${value})`).toBeLessThanOrEqual(
        1e-6 * Math.max(1, Math.abs(expected)),
      );
      expect(slope?.[i], `slope at ${value}`).toBeGreaterThan(-0.2);
      expect(slope?.[i], `slope at ${value}`).toBeLessThan(1.2);
      if (Math.abs(value) > 9) expect(slope?.[i]).toBeCloseTo(value > 0 ? 1 : 0, 5);
    });
  });

  it('of scores leave attention a weighted mean of the values', async () => {
    const sizes = { samples: 1, tokens: 5, heads: 1, keyValueHeads: 1, headWidth: 4 };
    const random = randomNumbers(5);
    const packed = randomVector(5 * 12, random);
    for (let i = 0; i < packed.length; i++) if (i % 12 < 8) packed[i] = (packed[i] as number) * 300;
    const x = tf.tensor2d(packed, [5, 12]);
    const [o, slope] = await read([
      selfAttention(x, sizes),
      tf.grad((t: tf.Tensor) => selfAttention(t as tf.Tensor2D, sizes))(x),
    ]);
    expect(
      relativeError(o as Float32Array, reference.attentionReference(Float64Array.from(packed), sizes)),
    ).toBeLessThan(1e-3);
    expect((slope as Float32Array).every(Number.isFinite)).toBe(true);
  });

  it('of scores far below any other do not let a token see the next on the twin', async () => {
    const sizes = { samples: 1, tokens: 2, heads: 1, keyValueHeads: 1, headWidth: 1 };
    // Queries, keys, values: the score of the first token with itself is -1e12, with the next 1e12.
    const x = tf.tensor2d([1e6, -1e6, 3, 1e6, 1e6, 5], [2, 3]);
    await tf.setBackend('cpu');
    const [o] = await read([twins.selfAttention(tf.tensor2d(await x.data(), [2, 3]), sizes)]);
    expect(o?.[0]).toBe(3);
  });

  it('of one class and one entry have a twin', async () => {
    await tf.setBackend('cpu');
    const logits = tf.tensor2d([2, 5, 7], [3, 1]);
    const labels = ids([0, -1, 0]);
    const loss = (l: tf.Tensor): tf.Scalar => twins.crossEntropySum(l as tf.Tensor2D, labels, 1);
    const table = tf.tensor2d([4, 6], [1, 2]);
    const rows = (t: tf.Tensor): tf.Tensor => twins.embedding(t as tf.Tensor2D, ids([0, 0]));
    const [value, slope, taken, into] = await read([
      loss(logits),
      tf.grad(loss)(logits),
      rows(table),
      tf.grad(rows)(table),
    ]);
    expect([...(value as Float32Array), ...(slope as Float32Array)]).toEqual([0, 0, 0, 0]);
    expect(Array.from(taken as Float32Array)).toEqual([4, 6, 4, 6]);
    expect(Array.from(into as Float32Array)).toEqual([2, 2]);
  });

  it('that are not numbers are not hidden by an activation', async () => {
    const x = tf.tensor2d([NaN, 1, 1, 1], [2, 2]);
    const w = tf.ones([2, 4]) as tf.Tensor2D;
    for (const activation of ['none', 'relu', 'gelu', 'swiglu'] as const) {
      const [y] = await read([linear(x, w, null, activation)]);
      const columns = activation === 'swiglu' ? 2 : 4;
      expect(Array.from((y as Float32Array).subarray(0, columns)).every(Number.isNaN), activation).toBe(true);
      expect(Array.from((y as Float32Array).subarray(columns)).every(Number.isFinite), activation).toBe(true);
    }
    tf.dispose([x, w]);
  });

  it('of constant rows leave layer norm at its shift', async () => {
    const y = layerNorm(tf.fill([3, 8], 1e6), tf.fill([8], 2), tf.fill([8], 0.5), 1e-5);
    const [values] = await read([y]);
    expect(Array.from(values as Float32Array)).toEqual(Array(24).fill(0.5));
  });
});

describe('attention over many heads and widths', () => {
  it.each([16, 32, 64, 96, 128])('head width %i is right in every form', async (headWidth) => {
    const { runtime } = present();
    const sizes = { samples: 1, tokens: 7, heads: 2, keyValueHeads: 1, headWidth };
    const random = randomNumbers(headWidth);
    const packed = randomVector(7 * 4 * headWidth, random);
    const exact = reference.attentionReference(Float64Array.from(packed), sizes);
    const x = tf.tensor2d(packed, [7, 4 * headWidth]);
    const seed = tf.tensor2d(randomVector(7 * 2 * headWidth, random), [7, 2 * headWidth]);
    const found: Float32Array[] = [];
    for (const software of [true, false]) {
      registerRuntime(new KernelRuntime(runtime.backend, { ...runtime.traits, software }));
      const [o, slope] = await read([
        selfAttention(x, sizes),
        tf.grad((t: tf.Tensor) => selfAttention(t as tf.Tensor2D, sizes))(x, seed),
      ]);
      expect(relativeError(o as Float32Array, exact)).toBeLessThan(1e-5);
      found.push(slope as Float32Array);
    }
    registerRuntime(runtime);
    expect(relativeError(found[1] as Float32Array, found[0] as Float32Array)).toBeLessThan(1e-5);
  });
});
