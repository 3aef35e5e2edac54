/** Rotary position embedding as an operation with a gradient. */
import * as tf from '@tensorflow/tfjs';
import { rotaryKernel, rotaryTable, type RotaryShape } from '../elementwise/rotary.ts';
import { keptConstant } from '../twins/constants.ts';
import * as twin from '../twins/rotary.ts';
import { runtimeFor, withGradient } from './usable.ts';

/** @param x [samples x tokens, heads x headWidth]; positions count from 0. @returns the same shape. */
export function rotary(x: tf.Tensor2D, shape: RotaryShape): tf.Tensor2D {
  const { tokens, headWidth, base } = shape;
  const table = keptConstant(`rotary ${tokens} ${headWidth} ${base}`, () =>
    tf.tensor3d(rotaryTable(shape), [tokens, headWidth / 2, 2]),
  );
  const runtime = runtimeFor('rotary-forward', 'rotary-backward');
  if (!runtime) return twin.rotary(x, shape, table);
  const turn = (input: tf.Tensor, backward: boolean): tf.Tensor[] =>
    runtime.run(rotaryKernel(shape, backward), [input, table], [{ shape: x.shape }]);
  return withGradient(
    [x],
    () => turn(x, false)[0] as tf.Tensor,
    (dy) => turn(dy, true),
  ) as tf.Tensor2D;
}
