/** Softmax cross-entropy, summed. */
import type * as tf from '@tensorflow/tfjs';
import { scaleKernel } from '../elementwise/elementwise.ts';
import { sumKernel } from '../elementwise/sum.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { crossEntropyKernel } from '../loss/cross-entropy.ts';
import * as twin from '../twins/cross-entropy.ts';
import { gradientsWanted, runtimeFor, withGradient } from './usable.ts';

/**
 * @param logits [rows, classes]; @param labels int32 [rows], each below `classes`; a negative one is padding, which
 * has neither loss nor gradient.
 * @returns `scale` times the sum of the rows' losses in nats, a scalar.
 */
export function crossEntropySum(logits: tf.Tensor2D, labels: tf.Tensor1D, scale: number): tf.Scalar {
  const runtime = runtimeFor('cross-entropy', 'sum', 'scale');
  if (!runtime) return twin.crossEntropySum(logits, labels, scale);
  const [rows, classes] = logits.shape;
  const gradient = gradientsWanted();
  return withGradient(
    [logits],
    (save) => {
      const [losses, slopes] = runtime.run(
        crossEntropyKernel({ rows, classes, scale, gradient }, runtime.traits),
        [logits, labels],
        [{ shape: [rows] }, ...(gradient ? [{ shape: [rows, classes] }] : [])],
      ) as [tf.Tensor, tf.Tensor | undefined];
      if (slopes) save([slopes]);
      const [total] = runtime.run(sumKernel(rows, runtime.traits), [losses], [{ shape: [] }]) as [tf.Tensor];
      losses.dispose();
      return total;
    },
    (dy, saved) => {
      const slopes = saved[0] as tf.Tensor;
      // The gradient of a loss starts from a one that was made on the CPU.
      if (isOne(runtime, dy)) return [slopes.clone()];
      return runtime.run(scaleKernel(slopes.size), [slopes, dy], [{ shape: [rows, classes] }]);
    },
  ) as tf.Scalar;
}

function isOne(runtime: KernelRuntime, dy: tf.Tensor): boolean {
  // What a recorded step is given may be something else at the next replay.
  if (runtime.recorder?.given(dy)) return false;
  const { values } = runtime.backend.tensorMap.get(dy.dataId) as { values?: ArrayLike<number> | null };
  return values?.length === 1 && values[0] === 1;
}
