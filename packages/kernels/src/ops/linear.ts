/** x W + b with a bias gradient that needs no reduction kernel. */
import * as tf from '@tensorflow/tfjs';
import { columnSum } from './sums.ts';

/** @param x [rows, in]; @param weight [in, out]; @param bias [out]. @returns [rows, out]. */
export function linear(x: tf.Tensor2D, weight: tf.Tensor2D, bias: tf.Tensor1D): tf.Tensor2D {
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, w, b, save] = inputs as [tf.Tensor2D, tf.Tensor2D, tf.Tensor1D, tf.GradSaveFunc];
    save([input, w]);
    return {
      value: tf.add(tf.matMul(input, w), b),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [x0, w0] = saved as [tf.Tensor2D, tf.Tensor2D];
        const upstream = dy as tf.Tensor2D;
        return [
          tf.matMul(upstream, w0, false, true),
          tf.matMul(x0, upstream, true, false),
          columnSum(upstream),
        ];
      },
    };
  });
  return op(x, weight, bias) as tf.Tensor2D;
}
