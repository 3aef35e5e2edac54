import * as tf from '@tensorflow/tfjs';

/** Rows with a one at their index, and of zeros where that is negative; [ids, depth] of floats. */
export function oneHotRows(ids: tf.Tensor1D, depth: number): tf.Tensor2D {
  // TensorFlow.js refuses a depth of one.
  if (depth === 1) return tf.reshape(tf.cast(tf.equal(ids, 0), 'float32'), [-1, 1]);
  return tf.cast(tf.oneHot(ids, depth), 'float32') as tf.Tensor2D;
}
