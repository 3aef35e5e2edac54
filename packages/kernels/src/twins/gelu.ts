/** GELU, tanh approximation (arXiv 1606.08415; `gelu_new` in GPT-2), with its analytic gradient. */
import * as tf from '@tensorflow/tfjs';

const c = Math.sqrt(2 / Math.PI);
const cubic = 0.044715;
/** tanh is 1 to the last bit of float32 from here; some drivers give NaN for large arguments. */
const saturated = 10;

function boundedTanh(x: tf.Tensor): tf.Tensor {
  return tf.tanh(tf.clipByValue(x, -saturated, saturated));
}

/** Any shape. */
export function gelu<T extends tf.Tensor>(x: T): T {
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [input, save] = inputs as [tf.Tensor, tf.GradSaveFunc];
    // Beyond the bounds tanh is saturated, and squares would overflow.
    const bounded = tf.clipByValue(input, -saturated, saturated);
    const squared = tf.square(bounded);
    const t = boundedTanh(tf.mul(tf.mul(bounded, c), tf.add(tf.mul(squared, cubic), 1)));
    const half = tf.mul(tf.add(t, 1), 0.5);
    save([bounded, squared, t, half]);
    return {
      value: tf.mul(input, half),
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [x0, x2, tanh, h] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
        const inner = tf.add(tf.mul(x2, 3 * cubic * c), c);
        const slope = tf.mul(tf.mul(x0, 0.5), tf.mul(tf.sub(1, tf.square(tanh)), inner));
        return tf.mul(dy, tf.add(h, slope));
      },
    };
  });
  return op(x) as T;
}
