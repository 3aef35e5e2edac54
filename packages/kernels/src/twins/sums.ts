/**
 * Sums along rows and columns as matrix products with ones: deterministic, and on software adapters many times
 * faster than the back end's reductions, which wait at barriers.
 */
import * as tf from '@tensorflow/tfjs';
import { keptConstant } from './constants.ts';

/** A kept matrix of one value. */
function constant(rows: number, columns: number, value: number): tf.Tensor2D {
  return keptConstant(`${rows} ${columns} ${value}`, () =>
    tf.tensor2d(new Float32Array(rows * columns).fill(value), [rows, columns]),
  ) as tf.Tensor2D;
}

/** [rows, columns] -> [rows, 1] */
export function rowMean(x: tf.Tensor): tf.Tensor2D {
  const columns = x.shape.at(-1) as number;
  return tf.matMul(x as tf.Tensor2D, constant(columns, 1, 1 / columns));
}

/** [rows, columns] -> [rows, 1] */
export function rowSum(x: tf.Tensor): tf.Tensor2D {
  return tf.matMul(x as tf.Tensor2D, constant(x.shape.at(-1) as number, 1, 1));
}

/** [rows, columns] -> [columns] */
export function columnSum(x: tf.Tensor): tf.Tensor1D {
  return tf.reshape(tf.matMul(constant(1, x.shape[0] as number, 1), x as tf.Tensor2D), [
    x.shape[1] as number,
  ]);
}
