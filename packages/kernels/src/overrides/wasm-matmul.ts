/**
 * Matrix products on WASM, correct and fast.
 *
 * Only the untransposed product runs on XNNPACK; the others are 13 to 25 times slower than transposing first. And
 * tfjs-backend-wasm 4.22 keeps one XNNPACK operator for each right-hand side by the id of its data alone, which a
 * reshape shares: a second product with the same data in another shape runs with the first one's sizes and writes
 * outside its output.
 */
import * as tf from '@tensorflow/tfjs';
import { compose, overrideKernel } from './override.ts';

export function mendWasmMatMul(): void {
  /** The shape in which data was first a right-hand side; that is the one its operator is made for. */
  const firstShapes = new WeakMap<object, string>();
  overrideKernel('BatchMatMul', 'wasm', (original) => (parameters) => {
    const { a, b } = parameters.inputs as { a: tf.TensorInfo; b: tf.TensorInfo };
    const { transposeA, transposeB } = parameters.attrs as unknown as {
      transposeA: boolean;
      transposeB: boolean;
    };
    if (transposeA || transposeB) {
      return compose(parameters.backend, [a, b], (left, right) =>
        tf.matMul(
          transposeA ? swapLastAxes(left as tf.Tensor) : (left as tf.Tensor),
          transposeB ? swapLastAxes(right as tf.Tensor) : (right as tf.Tensor),
        ),
      );
    }
    const shape = b.shape.slice(-2).join();
    const first = firstShapes.get(b.dataId) ?? shape;
    firstShapes.set(b.dataId, first);
    if (first === shape) return original(parameters);
    // Adding zero makes new data; clone and reshape would not.
    return compose(parameters.backend, [a, b], (left, right) =>
      tf.matMul(left as tf.Tensor, tf.add(right as tf.Tensor, 0)),
    );
  });
}

function swapLastAxes(x: tf.Tensor): tf.Tensor {
  const axes = x.shape.map((_, axis) => axis);
  return tf.transpose(x, [...axes.slice(0, -2), axes.length - 1, axes.length - 2]);
}
