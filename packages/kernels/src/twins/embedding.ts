/**
 * Rows of a table by index, with a gradient that adds in a fixed order: a product with the one-hot matrix for small
 * tables, the back end's segment sum (whose order is its own) for large ones.
 */
import * as tf from '@tensorflow/tfjs';
import { oneHotRows } from './one-hot.ts';
import { columnSum } from './sums.ts';

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
        const onehot = oneHotRows(rows, entries);
        return tf.matMul(onehot, dy as tf.Tensor2D, true, false);
      },
    };
  });
  return op(table) as tf.Tensor2D;
}

/** A row of `table` for each id plus the row of `positions` for its place in its sample. */
export function embeddingWithPositions(
  table: tf.Tensor2D,
  positions: tf.Tensor2D,
  ids: tf.Tensor1D,
  tokens: number,
): tf.Tensor2D {
  const width = table.shape[1];
  const samples = ids.size / tokens;
  const words: tf.Tensor3D = tf.reshape(embedding(table, ids), [samples, tokens, width]);
  const places: tf.Tensor3D = tf.reshape(tf.slice(positions, [0, 0], [tokens, width]), [1, tokens, width]);
  return tf.reshape(addPositions(words, places), [ids.size, width]);
}

/** words [samples, tokens, width] + positions [1, tokens, width]; the gradient of the latter sums over samples. */
function addPositions(words: tf.Tensor3D, positions: tf.Tensor3D): tf.Tensor3D {
  const [samples, tokens, width] = words.shape;
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [w, p] = inputs as [tf.Tensor3D, tf.Tensor3D];
    return {
      value: tf.add(w, p),
      gradFunc: (dy: tf.Tensor) => {
        const summed = columnSum(tf.reshape(dy, [samples, tokens * width]));
        return [dy, tf.reshape(summed, [1, tokens, width])];
      },
    };
  });
  return op(words, positions) as tf.Tensor3D;
}
