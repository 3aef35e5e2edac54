/** Every layer's gradient against finite differences, input by input, on the plain JavaScript back end. */
import { causalAttention, crossEntropy, embedding, gelu, layerNorm, linear } from '@tabweave/kernels';
import { Random } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';

beforeAll(async () => {
  await tf.setBackend('cpu');
});

interface Layer {
  shapes: number[][];
  /** From inputs of those shapes. */
  run: (...inputs: tf.Tensor[]) => tf.Tensor;
  /** Spread of the inputs; 1 unless told. */
  spread?: number;
}

const ids = (values: number[]): tf.Tensor1D => tf.tensor1d(values, 'int32');

const layers: Record<string, Layer> = {
  'layer norm': {
    shapes: [[3, 6], [6], [6]],
    run: (x, g, b) => layerNorm(x as tf.Tensor2D, g as tf.Tensor1D, b as tf.Tensor1D, 1e-5),
  },
  linear: {
    shapes: [[4, 3], [3, 5], [5]],
    run: (x, w, b) => linear(x as tf.Tensor2D, w as tf.Tensor2D, b as tf.Tensor1D),
  },
  GELU: { shapes: [[3, 7]], run: (x) => gelu(x as tf.Tensor2D), spread: 2 },
  'causal attention': {
    shapes: [
      [2, 5, 4],
      [2, 5, 4],
      [2, 5, 4],
    ],
    run: (q, k, v) => causalAttention(q as tf.Tensor3D, k as tf.Tensor3D, v as tf.Tensor3D),
  },
  embedding: { shapes: [[7, 3]], run: (table) => embedding(table as tf.Tensor2D, ids([2, 0, 2, 6, 5])) },
  'cross-entropy': {
    shapes: [[4, 6]],
    run: (logits) => crossEntropy(logits as tf.Tensor2D, ids([0, 5, 2, 2])),
    spread: 2,
  },
};

/** Step of the differences: large, since float32 leaves about 1e-7 of the function's value as noise. */
const h = 1e-2;

describe.each(Object.entries(layers))('%s', (_, { shapes, run, spread = 1 }) => {
  it('has the slopes that finite differences show', async () => {
    const random = new Random(17);
    const inputs = shapes.map((shape) =>
      Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => spread * random.normal()),
    );
    const outputs = run(...inputs.map((values, i) => tf.tensor(values, shapes[i]))).size;
    const weights = Float32Array.from({ length: outputs }, () => random.normal());
    const weighted = (...tensors: tf.Tensor[]): tf.Scalar =>
      tf.sum(tf.mul(tf.reshape(run(...tensors), [outputs]), tf.tensor1d(weights)));
    const gradients = tf.grads(weighted)(inputs.map((values, i) => tf.tensor(values, shapes[i])));
    /** Summed in float64 from the layer's float32 outputs. */
    const value = async (at: Float32Array[]): Promise<number> => {
      const output = await run(...at.map((values, i) => tf.tensor(values, shapes[i]))).data();
      return (output as Float32Array).reduce((sum, x, i) => sum + x * (weights[i] as number), 0);
    };
    for (const [which, gradient] of gradients.entries()) {
      const slopes = (await gradient.data()) as Float32Array;
      const scale = Math.max(1, ...slopes.map(Math.abs));
      for (let i = 0; i < slopes.length; i++) {
        const moved = (by: number): Float32Array[] =>
          inputs.map((values, n) => values.map((x, j) => (n === which && j === i ? x + by : x)));
        const difference = ((await value(moved(h))) - (await value(moved(-h)))) / (2 * h);
        expect(
          Math.abs((slopes[i] as number) - difference) / scale,
          `input ${which}, element ${i}`,
        ).toBeLessThan(2e-3);
      }
    }
  });
});
