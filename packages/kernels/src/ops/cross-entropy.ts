/** Softmax cross-entropy from logits, with its analytic gradient (probabilities minus one-hot). */
import * as tf from '@tensorflow/tfjs';
import { rowSum } from './sums.ts';

/** @param logits [rows, classes]; @param labels int32 [rows], each in [0, classes). @returns the loss of each row, [rows, 1]. */
export function crossEntropy(logits: tf.Tensor2D, labels: tf.Tensor1D): tf.Tensor2D {
  const classes = logits.shape[1];
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, save] = inputs as [tf.Tensor2D, tf.GradSaveFunc];
    const shifted = tf.sub(input, tf.max(input, 1, true)) as tf.Tensor2D;
    const exponentials = tf.exp(shifted);
    const sums = rowSum(exponentials);
    const target = tf.cast(tf.oneHot(labels, classes), 'float32') as tf.Tensor2D;
    save([exponentials, sums, target]);
    return {
      value: tf.sub(tf.log(sums), rowSum(tf.mul(shifted, target))),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [e, s, onehot] = saved as [tf.Tensor2D, tf.Tensor2D, tf.Tensor2D];
        return tf.mul(tf.sub(tf.div(e, s), onehot), dy);
      },
    };
  });
  return op(logits) as tf.Tensor2D;
}
