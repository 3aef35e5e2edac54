import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import { embedding } from '../ops/embedding.ts';
import { installWasmOverrides } from './wasm.ts';

beforeAll(async () => {
  setWasmPaths(`${dirname(createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm'))}/`);
  await tf.setBackend('wasm');
  installWasmOverrides();
});

it('segment sums add rows by segment and leave out what belongs to none', async () => {
  const x = tf.tensor2d([1, 2, 3, 4, 5, 6, 7, 8], [4, 2]);
  const sums = tf.unsortedSegmentSum(x, tf.tensor1d([2, 0, 2, 9], 'int32'), 3);
  expect(await sums.array()).toEqual([
    [3, 4],
    [0, 0],
    [6, 8],
  ]);
});

it('an embedding too large for one-hot rows has its gradient', async () => {
  const ids = tf.tensor1d([4999, 1, 4999], 'int32');
  const gradient = tf.grad((table: tf.Tensor) => {
    const rows = embedding(table as tf.Tensor2D, ids);
    return tf.sum(tf.mul(rows, tf.tensor2d([1, 10, 100], [3, 1])));
  })(tf.zeros([5000, 2]));
  const values = (await gradient.data()) as Float32Array;
  expect([...values.slice(2, 4)]).toEqual([10, 10]);
  expect([...values.slice(-2)]).toEqual([101, 101]);
  expect(values.reduce((a, b) => a + b)).toBe(222);
});

describe('matrix products', () => {
  it.each([
    [false, true],
    [true, false],
    [true, true],
  ])('with transposition %s, %s are those of plain loops, and leave nothing behind', async (tA, tB) => {
    const [rows, inner, columns] = [3, 5, 4];
    const left = Float32Array.from({ length: 2 * rows * inner }, (_, i) => Math.sin(i));
    const right = Float32Array.from({ length: 2 * inner * columns }, (_, i) => Math.cos(i));
    const a = tf.tensor3d(left, tA ? [2, inner, rows] : [2, rows, inner]);
    const b = tf.tensor3d(right, tB ? [2, columns, inner] : [2, inner, columns]);
    const before = tf.memory().numTensors;
    const product = tf.matMul(a, b, tA, tB);
    const got = await product.data();
    product.dispose();
    expect(tf.memory().numTensors).toBe(before);
    for (let n = 0; n < 2; n++)
      for (let r = 0; r < rows; r++)
        for (let c = 0; c < columns; c++) {
          let sum = 0;
          for (let k = 0; k < inner; k++) {
            const x = left[n * rows * inner + (tA ? k * rows + r : r * inner + k)] as number;
            const y = right[n * inner * columns + (tB ? c * inner + k : k * columns + c)] as number;
            sum += x * y;
          }
          expect(got[(n * rows + r) * columns + c]).toBeCloseTo(sum, 5);
        }
    tf.dispose([a, b]);
  });

  it('with one right-hand side in several shapes are right', async () => {
    const b = tf.reshape(tf.range(0, 16), [2, 8]);
    const wide = await tf.matMul(tf.ones([1, 2]), b).array();
    const square = await tf.matMul(tf.ones([1, 4]), tf.reshape(b, [4, 4]) as tf.Tensor2D).array();
    const tall = await tf.matMul(tf.ones([1, 8]), tf.reshape(b, [8, 2]) as tf.Tensor2D).array();
    expect(wide).toEqual([[8, 10, 12, 14, 16, 18, 20, 22]]);
    expect(square).toEqual([[24, 28, 32, 36]]);
    expect(tall).toEqual([[56, 64]]);
    b.dispose();
  });
});
