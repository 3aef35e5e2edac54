/** The operations of `@tabweave/kernels` on the device that it makes. */
import {
  createWebGpuDevice,
  crossEntropySum,
  embedding,
  layerNorm,
  presentRuntime,
  selfAttention,
  tuneTiles,
} from '@tabweave/kernels';
import * as tf from '@tensorflow/tfjs';
import type { Operation } from '../../operations.ts';
import { launcher, type TfjsOperation } from './on-tfjs.ts';
import type { OperationContender } from './runner.ts';

/** For one shape; in a tab the same happens between contributions. */
const tuningMilliseconds = 3000;

export const tabweaveOperations: OperationContender = {
  async start() {
    await createWebGpuDevice(navigator.gpu);
  },
  async tune() {
    const runtime = presentRuntime();
    if (runtime) await tuneTiles(runtime, tuningMilliseconds);
  },
  prepare: (operation, data) => launcher(operation, data, ours(operation)),
};

function ours(operation: Operation): TfjsOperation {
  switch (operation.kind) {
    case 'matmul': {
      const { transposeA, transposeB } = operation;
      return ([a, b]) => tf.matMul(a as tf.Tensor, b as tf.Tensor, transposeA, transposeB);
    }
    case 'layer norm':
      return ([x, gamma, beta]) =>
        layerNorm(x as tf.Tensor2D, gamma as tf.Tensor1D, beta as tf.Tensor1D, 1e-5);
    case 'cross-entropy':
      return ([logits], labels) =>
        crossEntropySum(logits as tf.Tensor2D, labels as tf.Tensor1D, 1 / operation.rows);
    case 'attention': {
      const { samples, heads, tokens, headWidth } = operation;
      const shape = { samples, tokens, heads, headWidth, keyValueHeads: heads };
      return ([qkv]) => selfAttention(qkv as tf.Tensor2D, shape);
    }
    case 'embedding':
      return ([table], indices) => embedding(table as tf.Tensor2D, indices as tf.Tensor1D);
  }
}
