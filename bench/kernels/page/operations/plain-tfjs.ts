/** The operations as one composes them of what TensorFlow.js has. */
import * as tf from '@tensorflow/tfjs';
import type { Operation } from '../../operations.ts';
import { startTfjs } from '../contenders/plain-tfjs.ts';
import { attention, causalMask, layerNorm } from '../models/tfjs-gpt2.ts';
import { launcher, type TfjsOperation } from './on-tfjs.ts';
import type { OperationContender } from './runner.ts';

export function plainTfjsOperations(backend: 'webgpu' | 'webgl'): OperationContender {
  return {
    start: () => startTfjs(backend),
    prepare: (operation, data) => launcher(operation, data, stock(operation)),
  };
}

function stock(operation: Operation): TfjsOperation {
  switch (operation.kind) {
    case 'matmul': {
      const { transposeA, transposeB } = operation;
      return ([a, b]) => tf.matMul(a as tf.Tensor, b as tf.Tensor, transposeA, transposeB);
    }
    case 'layer norm':
      return ([x, gamma, beta]) => layerNorm(x as tf.Tensor, gamma, beta, 1e-5);
    case 'cross-entropy':
      return ([logits], labels) =>
        tf.losses.softmaxCrossEntropy(
          tf.oneHot(labels as tf.Tensor1D, operation.classes),
          logits as tf.Tensor2D,
        );
    case 'attention': {
      const { samples, heads, tokens, headWidth } = operation;
      const width = heads * headWidth;
      const shape = { samples, heads, tokens, width };
      return ([qkv]) =>
        tf.reshape(attention(shape, qkv as tf.Tensor, causalMask(tokens)), [samples * tokens, width]);
    }
    case 'embedding':
      return ([table], indices) => tf.gather(table as tf.Tensor2D, indices as tf.Tensor1D);
  }
}
