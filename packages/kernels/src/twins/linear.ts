/** x W + b with a bias gradient that needs no reduction kernel. */
import * as tf from '@tensorflow/tfjs';
import { gelu } from './gelu.ts';
import { columnSum } from './sums.ts';

/** @param x [rows, in]; @param weight [in, out]; @param bias [out] or none. @returns [rows, out]. */
export function linear(
  x: tf.Tensor2D,
  weight: tf.Tensor2D,
  bias: tf.Tensor1D | null,
  activation: 'none' | 'gelu' | 'relu' = 'none',
): tf.Tensor2D {
  const y: tf.Tensor2D = bias ? affine(x, weight, bias) : tf.matMul(x, weight);
  if (activation === 'none') return y;
  return activation === 'gelu' ? gelu(y) : tf.relu(y);
}

/** @param packed [rows, 2 x columns], gates then values. @returns silu(gate) value, [rows, columns]. */
export function swiglu(packed: tf.Tensor2D): tf.Tensor2D {
  const [rows, both] = packed.shape;
  const half = (index: number): tf.Tensor2D => tf.slice(packed, [0, (index * both) / 2], [rows, both / 2]);
  const gate = half(0);
  return tf.mul(tf.mul(gate, tf.sigmoid(gate)), half(1));
}

function affine(x: tf.Tensor2D, weight: tf.Tensor2D, bias: tf.Tensor1D): tf.Tensor2D {
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
