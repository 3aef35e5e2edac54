/** GELU by itself; `linear` has it folded in. */
import type * as tf from '@tensorflow/tfjs';
import { geluBackward, geluForward } from '../elementwise/elementwise.ts';
import * as twin from '../twins/gelu.ts';
import { runtimeFor, withGradient } from './usable.ts';

/** Any shape. */
export function gelu<T extends tf.Tensor>(x: T): T {
  const runtime = runtimeFor('gelu-forward', 'gelu-backward');
  if (!runtime) return twin.gelu(x);
  const { shape, size } = x;
  return withGradient(
    [x],
    (save) => {
      save([x]);
      return runtime.run(geluForward(size), [x], [{ shape }])[0] as tf.Tensor;
    },
    (dy, saved) => runtime.run(geluBackward(size), [dy, ...saved], [{ shape }]),
  ) as T;
}
