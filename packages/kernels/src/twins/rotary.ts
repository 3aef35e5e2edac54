/** Rotary position embedding from plain operations. */
import * as tf from '@tensorflow/tfjs';
import { rotaryTable, type RotaryShape } from '../elementwise/rotary.ts';
import { keptConstant } from './constants.ts';

/** Cosines and sines, [tokens, headWidth / 2, 2], made once. */
export function keptRotaryTable(shape: RotaryShape): tf.Tensor {
  const { tokens, headWidth, base } = shape;
  return keptConstant(`rotary ${tokens} ${headWidth} ${base}`, () =>
    tf.tensor3d(rotaryTable(shape), [tokens, headWidth / 2, 2]),
  );
}

export function rotary(x: tf.Tensor2D, shape: RotaryShape): tf.Tensor2D {
  const { samples, tokens, heads, headWidth } = shape;
  const half = headWidth / 2;
  const table = keptRotaryTable(shape);
  const turn = (index: number): tf.Tensor =>
    tf.reshape(tf.slice(table, [0, 0, index], [tokens, half, 1]), [1, tokens, 1, half]);
  const split = tf.reshape(x, [samples, tokens, heads, headWidth]);
  const part = (index: number): tf.Tensor =>
    tf.slice(split, [0, 0, 0, index * half], [samples, tokens, heads, half]);
  const [a, b, c, s] = [part(0), part(1), turn(0), turn(1)];
  const turned = tf.concat([tf.sub(tf.mul(a, c), tf.mul(b, s)), tf.add(tf.mul(b, c), tf.mul(a, s))], 3);
  return tf.reshape(turned, [samples * tokens, heads * headWidth]);
}
