/** Layer and RMS normalisation over the last axis, as operations with gradients. */
import type * as tf from '@tensorflow/tfjs';
import { normBackward, normChunks, normForward, normParameterSums, type NormShape } from '../norm/norm.ts';
import * as twin from '../twins/norm.ts';
import { runtimeFor, withGradient } from './usable.ts';

/** @param x [rows, width]; @param gamma, beta [width]. @returns [rows, width]. */
export function layerNorm(
  x: tf.Tensor2D,
  gamma: tf.Tensor1D,
  beta: tf.Tensor1D,
  epsilon: number,
): tf.Tensor2D {
  return norm(x, [gamma, beta], epsilon) ?? twin.layerNorm(x, gamma, beta, epsilon);
}

/** @param x [rows, width]; @param gamma [width]. @returns [rows, width]. */
export function rmsNorm(x: tf.Tensor2D, gamma: tf.Tensor1D, epsilon: number): tf.Tensor2D {
  return norm(x, [gamma], epsilon) ?? twin.rmsNorm(x, gamma, epsilon);
}

function norm(x: tf.Tensor2D, parameters: tf.Tensor1D[], epsilon: number): tf.Tensor2D | null {
  const rms = parameters.length === 1;
  const family = rms ? 'rms-norm' : 'layer-norm';
  const runtime = runtimeFor(`${family}-forward`, `${family}-backward`);
  if (!runtime) return null;
  const [rows, columns] = x.shape;
  const shape: NormShape = { rows, columns, epsilon, rms };
  const { traits } = runtime;
  const gamma = parameters[0] as tf.Tensor1D;
  return withGradient(
    [x, ...parameters],
    (save) => {
      const [y, statistics] = runtime.run(
        normForward(shape, traits),
        [x, ...parameters],
        [{ shape: [rows, columns] }, { shape: [rows, 2] }],
      ) as [tf.Tensor, tf.Tensor];
      save([x, gamma, statistics]);
      return y;
    },
    (dy, saved) => {
      const [dx, partial] = runtime.run(
        normBackward(shape, traits),
        [...saved, dy],
        [{ shape: [rows, columns] }, { shape: [normChunks(shape, traits), parameters.length, columns] }],
      ) as [tf.Tensor, tf.Tensor];
      const sums = runtime.run(
        normParameterSums(shape, traits),
        [partial],
        parameters.map(() => ({ shape: [columns] })),
      );
      partial.dispose();
      return [dx, ...sums];
    },
  ) as tf.Tensor2D;
}
