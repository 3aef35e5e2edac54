/** x W + b with its activation, in one launch forward; backward the bias gradient comes with the weight gradient. */
import type * as tf from '@tensorflow/tfjs';
import { geluBackward, reluBackward, swigluBackward, swigluForward } from '../elementwise/elementwise.ts';
import type { MatMulProblem } from '../matmul/problem.ts';
import * as twin from '../twins/linear.ts';
import { runMatMul } from './matmul.ts';
import { runtimeFor, withGradient } from './usable.ts';

/**
 * `swiglu` halves the output: of its packed columns the first half are gates, the second values, and the result is
 * silu(gate) value (arXiv 2002.05202).
 */
export type LinearActivation = 'none' | 'gelu' | 'relu' | 'swiglu';

/**
 * @param x [rows, in]; @param weight [in, out]; @param bias [out] or none.
 * @returns [rows, out], or [rows, out / 2] for `swiglu`.
 */
export function linear(
  x: tf.Tensor2D,
  weight: tf.Tensor2D,
  bias: tf.Tensor1D | null,
  activation: LinearActivation = 'none',
): tf.Tensor2D {
  if (activation === 'swiglu') return swiglu(linear(x, weight, bias));
  const backwardNames = activation === 'none' ? [] : [`${activation}-backward`];
  const runtime = runtimeFor('matmul', ...backwardNames);
  if (!runtime) return twin.linear(x, weight, bias, activation);
  const [rows, inner] = x.shape;
  const columns = weight.shape[1];
  const product = { batch: 1, transposeA: false, transposeB: false };
  const activated = activation !== 'none';
  return withGradient(
    bias ? [x, weight, bias] : [x, weight],
    (save) => {
      const problem: MatMulProblem = {
        ...product,
        m: rows,
        n: columns,
        k: inner,
        bias: bias !== null,
        activation,
        keepPreActivation: activated,
      };
      const [y, before] = runMatMul(runtime, problem, bias ? [x, weight, bias] : [x, weight], [
        rows,
        columns,
      ]) as [tf.Tensor, tf.Tensor];
      save(activated ? [x, weight, before] : [x, weight]);
      return y;
    },
    (dy, saved) => {
      const [x0, w0, before] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
      const backward = activation === 'gelu' ? geluBackward : reluBackward;
      const du = activated
        ? (runtime.run(backward(rows * columns), [dy, before], [{ shape: [rows, columns] }])[0] as tf.Tensor)
        : dy;
      const dx: MatMulProblem = { ...product, m: rows, n: inner, k: columns, transposeB: true };
      const dw: MatMulProblem = {
        ...product,
        m: inner,
        n: columns,
        k: rows,
        transposeA: true,
        columnSums: bias !== null,
      };
      const gradients = [
        ...runMatMul(runtime, dx, [du, w0], [rows, inner]),
        ...runMatMul(runtime, dw, [x0, du], [inner, columns]),
      ];
      if (activated) du.dispose();
      return gradients;
    },
  ) as tf.Tensor2D;
}

/** @param packed [rows, 2 x columns], gates then values. @returns silu(gate) value, [rows, columns]. */
export function swiglu(packed: tf.Tensor2D): tf.Tensor2D {
  const runtime = runtimeFor('swiglu-forward', 'swiglu-backward');
  if (!runtime) return twin.swiglu(packed);
  const [rows, both] = packed.shape;
  const columns = both / 2;
  return withGradient(
    [packed],
    (save) => {
      save([packed]);
      return runtime.run(
        swigluForward(rows, columns),
        [packed],
        [{ shape: [rows, columns] }],
      )[0] as tf.Tensor;
    },
    (dy, saved) => runtime.run(swigluBackward(rows, columns), [dy, ...saved], [{ shape: [rows, both] }]),
  ) as tf.Tensor2D;
}
