/**
 * Integers through float kernels without loss: three signed parts of 11 bits or fewer, each exact as float32, also
 * after sums of thousands.
 */
import * as tf from '@tensorflow/tfjs';

const base = 2048;

/** Applies a linear float operation (a copy, a sum) to each part of an int32 tensor, and puts the result together. */
export function throughFloats(x: tf.Tensor, apply: (part: tf.Tensor) => tf.Tensor): tf.Tensor {
  const high = tf.floorDiv(x, tf.scalar(base * base, 'int32'));
  const rest = tf.sub(x, tf.mul(high, tf.scalar(base * base, 'int32')));
  const middle = tf.floorDiv(rest, tf.scalar(base, 'int32'));
  const low = tf.sub(rest, tf.mul(middle, tf.scalar(base, 'int32')));
  const [h, m, l] = [high, middle, low].map((part) => tf.cast(apply(tf.cast(part, 'float32')), 'int32')) as [
    tf.Tensor,
    tf.Tensor,
    tf.Tensor,
  ];
  const upper = tf.add(tf.mul(h, tf.scalar(base, 'int32')), m);
  return tf.add(tf.mul(upper, tf.scalar(base, 'int32')), l);
}
