import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import * as tf from '@tensorflow/tfjs';
import { setWasmPaths } from '@tensorflow/tfjs-backend-wasm';
import { beforeAll, expect, it } from 'vitest';
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
