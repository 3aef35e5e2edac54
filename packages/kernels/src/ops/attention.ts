/** Causal self-attention of packed queries, keys and values. */
import type * as tf from '@tensorflow/tfjs';
import { attentionBackwardKeys, attentionBackwardQueries, attentionForward } from '../attend/attention.ts';
import type { AttentionShape } from '../attend/shape.ts';
import * as twin from '../twins/attention.ts';
import { runtimeFor, withGradient } from './usable.ts';

/**
 * @param qkv [samples x tokens, (heads + 2 keyValueHeads) x headWidth]: all queries, then all keys, then all values.
 * @returns [samples x tokens, heads x headWidth].
 * @throws Error when `keyValueHeads` does not divide `heads` or the columns do not fit.
 */
export function selfAttention(qkv: tf.Tensor2D, shape: AttentionShape): tf.Tensor2D {
  const { samples, tokens, heads, keyValueHeads, headWidth } = shape;
  const columns = (heads + 2 * keyValueHeads) * headWidth;
  if (heads % keyValueHeads !== 0) {
    throw new Error(`${heads} heads cannot share ${keyValueHeads} key heads evenly`);
  }
  if (qkv.shape[0] !== samples * tokens || qkv.shape[1] !== columns) {
    throw new Error(`attention wants [${samples * tokens}, ${columns}], not [${qkv.shape.join(', ')}]`);
  }
  const runtime =
    headWidth % 4 === 0 && headWidth <= 128 ? runtimeFor('attention-forward', 'attention-backward') : null;
  if (!runtime) return twin.selfAttention(qkv, shape);
  const { traits } = runtime;
  const output = { shape: [samples * tokens, heads * headWidth] };
  const perQuery = { shape: [samples, heads, tokens] };
  return withGradient(
    [qkv],
    (save) => {
      const [o, lse] = runtime.run(attentionForward(shape, traits), [qkv], [output, perQuery]) as [
        tf.Tensor,
        tf.Tensor,
      ];
      save([qkv, o, lse]);
      return o;
    },
    (dy, saved) => {
      const [packed, o, lse] = saved as [tf.Tensor, tf.Tensor, tf.Tensor];
      const [gradient, delta] = runtime.run(
        attentionBackwardQueries(shape, traits),
        [packed, o, lse, dy],
        [{ shape: [samples * tokens, columns] }, perQuery],
      ) as [tf.Tensor, tf.Tensor];
      runtime.runInto(attentionBackwardKeys(shape, traits), [packed, lse, delta, dy], [gradient]);
      delta.dispose();
      return [gradient];
    },
  ) as tf.Tensor2D;
}
