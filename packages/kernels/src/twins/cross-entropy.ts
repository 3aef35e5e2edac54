/** Softmax cross-entropy from logits, with its analytic gradient (probabilities minus one-hot). */
import * as tf from '@tensorflow/tfjs';
import { oneHotRows } from './one-hot.ts';
import { rowSum } from './sums.ts';

/** `scale` times the sum of the rows' losses; rows with a negative label count nothing. */
export function crossEntropySum(logits: tf.Tensor2D, labels: tf.Tensor1D, scale: number): tf.Scalar {
  return tf.mul(tf.sum(rowLosses(logits, labels)), scale);
}

/** The loss of each row, [rows, 1]. */
function rowLosses(logits: tf.Tensor2D, labels: tf.Tensor1D): tf.Tensor2D {
  const classes = logits.shape[1];
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, save] = inputs as [tf.Tensor2D, tf.GradSaveFunc];
    const shifted = tf.sub(input, tf.max(input, 1, true)) as tf.Tensor2D;
    const exponentials = tf.exp(shifted);
    const sums = rowSum(exponentials);
    const target = oneHotRows(labels, classes);
    // The row of a negative label in a one-hot matrix is all zeros.
    const counted = rowSum(target);
    save([exponentials, sums, target, counted]);
    return {
      value: tf.mul(tf.sub(tf.log(sums), rowSum(tf.mul(shifted, target))), counted),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [e, s, onehot, rows] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
        return tf.mul(tf.sub(tf.mul(tf.div(e, s), rows), onehot), dy);
      },
    };
  });
  return op(logits) as tf.Tensor2D;
}
