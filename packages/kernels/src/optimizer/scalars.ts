/** Single values of small tensors, for the twins of the kernels; nothing is read back. */
import * as tf from '@tensorflow/tfjs';

export function scalarAt(values: tf.Tensor, index: number): tf.Scalar {
  return tf.slice(values.flatten(), index, 1).reshape([]);
}

/** Whether the first value is finite, as a bool scalar: zero times it is NaN where it is not. */
export function isFiniteScalar(values: tf.Tensor): tf.Scalar {
  return tf.equal(tf.mul(scalarAt(values, 0), 0), 0);
}
