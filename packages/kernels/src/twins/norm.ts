/**
 * Layer normalisation over the last axis (arXiv 1607.06450), with its analytic gradient: a handful of operations in
 * place of the three dozen that differentiating the composition gives, and none of them uploads.
 */
import * as tf from '@tensorflow/tfjs';
import { columnSum, rowMean } from './sums.ts';

/** @param x [rows, width]; @param gamma [width]; @param beta [width]. @returns [rows, width]. */
export function layerNorm(
  x: tf.Tensor2D,
  gamma: tf.Tensor1D,
  beta: tf.Tensor1D,
  epsilon: number,
): tf.Tensor2D {
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, scale, shift, save] = inputs as [tf.Tensor2D, tf.Tensor1D, tf.Tensor1D, tf.GradSaveFunc];
    const centred = tf.sub(input, rowMean(input)) as tf.Tensor2D;
    const reciprocal = tf.rsqrt(tf.add(rowMean(tf.square(centred)), epsilon));
    const normal = tf.mul(centred, reciprocal) as tf.Tensor2D;
    save([normal, reciprocal, scale]);
    return {
      value: tf.add(tf.mul(normal, scale), shift),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [hat, rstd, g] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D];
        const upstream = dy as tf.Tensor2D;
        const dHat = tf.mul(upstream, g) as tf.Tensor2D;
        const projected = tf.mul(hat, rowMean(tf.mul(dHat, hat)));
        const dx = tf.mul(rstd, tf.sub(tf.sub(dHat, rowMean(dHat)), projected));
        return [dx, columnSum(tf.mul(upstream, hat)), columnSum(upstream)];
      },
    };
  });
  return op(x, gamma, beta) as tf.Tensor2D;
}

/** @param x [rows, width]; @param gamma [width]. @returns [rows, width]. */
export function rmsNorm(x: tf.Tensor2D, gamma: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  const reciprocal = tf.rsqrt(tf.add(rowMean(tf.square(x)), epsilon));
  return tf.mul(tf.mul(x, reciprocal), gamma);
}
