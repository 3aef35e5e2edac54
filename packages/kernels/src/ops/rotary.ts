/** Rotary position embedding as an operation with a gradient. */
import type * as tf from '@tensorflow/tfjs';
import { rotaryKernel, type RotaryShape } from '../elementwise/rotary.ts';
import * as twin from '../twins/rotary.ts';
import { runtimeFor, withGradient } from './usable.ts';

/** @param x [samples x tokens, heads x headWidth]; positions count from 0. @returns the same shape. */
export function rotary(x: tf.Tensor2D, shape: RotaryShape): tf.Tensor2D {
  const runtime = runtimeFor('rotary-forward', 'rotary-backward');
  if (!runtime) return twin.rotary(x, shape);
  const table = twin.keptRotaryTable(shape);
  const turn = (input: tf.Tensor, backward: boolean): tf.Tensor[] =>
    runtime.run(rotaryKernel(shape, backward), [input, table], [{ shape: x.shape }]);
  return withGradient(
    [x],
    () => turn(x, false)[0] as tf.Tensor,
    (dy) => turn(dy, true),
  ) as tf.Tensor2D;
}
