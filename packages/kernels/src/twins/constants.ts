/** Tensors that are made once and kept: masks, ones, tables. Made anew when the back end has changed. */
import * as tf from '@tensorflow/tfjs';

const kept = new Map<string, tf.Tensor>();
let keptFor: unknown;

export function keptConstant(key: string, make: () => tf.Tensor): tf.Tensor {
  const backend = tf.backend();
  if (keptFor !== backend) kept.clear();
  keptFor = backend;
  const present = kept.get(key);
  if (present && !present.isDisposed) return present;
  const made = tf.keep(make());
  kept.set(key, made);
  return made;
}
