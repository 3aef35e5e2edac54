/**
 * Rows of a table by index, with a gradient that adds in a fixed order: a product with the one-hot matrix for small
 * tables, the back end's segment sum (whose order is its own) for large ones.
 */
import * as tf from '@tensorflow/tfjs';

/** One-hot rows beyond this take more memory than they are worth. */
const largestOneHotTable = 4096;

/** @param table [entries, width]; @param ids int32 [rows], each in [0, entries). @returns [rows, width]. */
export function embedding(table: tf.Tensor2D, ids: tf.Tensor1D): tf.Tensor2D {
  const entries = table.shape[0];
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, save] = inputs as [tf.Tensor2D, tf.GradSaveFunc];
    save([ids]);
    return {
      value: tf.gather(input, ids),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const rows = saved[0] as tf.Tensor1D;
        if (entries > largestOneHotTable) return tf.unsortedSegmentSum(dy, rows, entries);
        const onehot = tf.cast(tf.oneHot(rows, entries), 'float32') as tf.Tensor2D;
        return tf.matMul(onehot, dy as tf.Tensor2D, true, false);
      },
    };
  });
  return op(table) as tf.Tensor2D;
}
