/**
 * Causal self-attention (arXiv 1706.03762, section 3.2) with its analytic gradient. The probabilities are kept for
 * the backward pass; the row sums of the softmax gradient are those of dO * O (FlashAttention, arXiv 2205.14135, B.2).
 */
import * as tf from '@tensorflow/tfjs';
import type { AttentionShape } from '../attend/shape.ts';
import { keptConstant } from './constants.ts';
import { rowSum } from './sums.ts';

const hidden = -3e38;

/** 0 where a token may look, and where it may not, less than any score; [tokens, tokens]. */
function causalMask(tokens: number): tf.Tensor2D {
  return keptConstant(`causal mask ${tokens}`, () => {
    const values = new Float32Array(tokens * tokens);
    for (let row = 0; row < tokens; row++) values.fill(hidden, row * tokens + row + 1, (row + 1) * tokens);
    return tf.tensor2d(values, [tokens, tokens]);
  }) as tf.Tensor2D;
}

function lastAxisSum(x: tf.Tensor): tf.Tensor {
  const last = x.shape.at(-1) as number;
  const rows = x.size / last;
  return tf.reshape(rowSum(tf.reshape(x, [rows, last])), [...x.shape.slice(0, -1), 1]);
}

/** @param q, k, v [batch x heads, tokens, head width]. @returns the same shape. */
export function causalAttention(q: tf.Tensor3D, k: tf.Tensor3D, v: tf.Tensor3D): tf.Tensor3D {
  const tokens = q.shape[1];
  const scale = 1 / Math.sqrt(q.shape[2]);
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [query, key, value, save] = inputs as [tf.Tensor3D, tf.Tensor3D, tf.Tensor3D, tf.GradSaveFunc];
    const scores = tf.add(tf.mul(tf.matMul(query, key, false, true), scale), causalMask(tokens));
    const probabilities = softmaxRows(scores) as tf.Tensor3D;
    const output = tf.matMul(probabilities, value);
    save([query, key, value, probabilities, output]);
    return {
      value: output,
      gradFunc: (dy: tf.Tensor, saved: tf.Tensor[]) => {
        const [q0, k0, v0, p, o] = saved as [tf.Tensor3D, tf.Tensor3D, tf.Tensor3D, tf.Tensor3D, tf.Tensor3D];
        const dO = dy as tf.Tensor3D;
        const dP = tf.matMul(dO, v0, false, true);
        const dS = tf.mul(tf.mul(p, tf.sub(dP, lastAxisSum(tf.mul(dO, o)))), scale) as tf.Tensor3D;
        return [tf.matMul(dS, k0), tf.matMul(dS, q0, true, false), tf.matMul(p, dO, true, false)];
      },
    };
  });
  return op(q, k, v) as tf.Tensor3D;
}

/** Softmax over the last axis. */
export function softmaxRows(x: tf.Tensor): tf.Tensor {
  const exponentials = tf.exp(tf.sub(x, tf.max(x, -1, true)));
  return tf.div(exponentials, lastAxisSum(exponentials));
}

/** @param qkv packed: queries, keys, values. Key heads are repeated for the query heads that share them. */
export function selfAttention(qkv: tf.Tensor2D, shape: AttentionShape): tf.Tensor2D {
  const { samples, tokens, heads, keyValueHeads, headWidth } = shape;
  const split = (firstHead: number, count: number): tf.Tensor3D => {
    const part = tf.slice(qkv, [0, firstHead * headWidth], [samples * tokens, count * headWidth]);
    const byHead = tf.transpose(tf.reshape(part, [samples, tokens, count, headWidth]), [0, 2, 1, 3]);
    const repeated =
      count === heads
        ? byHead
        : // The gradient of a tile ends at four axes.
          tf.tile(tf.reshape(byHead, [samples * count, 1, tokens * headWidth]), [1, heads / count, 1]);
    return tf.reshape(repeated, [samples * heads, tokens, headWidth]);
  };
  const output = causalAttention(
    split(0, heads),
    split(heads, keyValueHeads),
    split(heads + keyValueHeads, keyValueHeads),
  );
  const byToken = tf.transpose(tf.reshape(output, [samples, heads, tokens, headWidth]), [0, 2, 1, 3]);
  return tf.reshape(byToken, [samples * tokens, heads * headWidth]);
}
