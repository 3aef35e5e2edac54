/** Tensors that are made once for each back end and kept: masks, ones, tables. */
import * as tf from '@tensorflow/tfjs';

const kept = new WeakMap<object, Map<string, tf.Tensor>>();

export function keptConstant(key: string, make: () => tf.Tensor): tf.Tensor {
  const backend = tf.backend();
  const constants = kept.get(backend) ?? new Map<string, tf.Tensor>();
  kept.set(backend, constants);
  const present = constants.get(key);
  if (present && !present.isDisposed) return present;
  const made = tf.keep(make());
  constants.set(key, made);
  return made;
}
