/** GPT-2 as one writes it with the operations that TensorFlow.js has, and nothing else. */
import * as tf from '@tensorflow/tfjs';
import type { Gpt2Model } from '../../models.ts';

const tensorsPerBlock = 12;

/** @param parameters in the order of the layout. @param ids int32 [samples, tokens]. @returns the mean loss. */
export function gpt2Loss(
  model: Gpt2Model,
  parameters: readonly tf.Tensor[],
  ids: tf.Tensor2D,
  targets: tf.Tensor2D,
): tf.Scalar {
  const { config, samples, tokens } = model;
  const { width, layers, vocabSize, layerNormEpsilon } = config;
  const [wte, wpe] = parameters as [tf.Tensor2D, tf.Tensor2D];
  const shape = { samples, tokens, width, heads: config.heads };
  const mask = causalMask(tokens);
  let x: tf.Tensor = tf.add(tf.gather(wte, ids), wpe);
  for (let layer = 0; layer < layers; layer++) {
    const first = 2 + layer * tensorsPerBlock;
    const p = parameters.slice(first, first + tensorsPerBlock);
    const normal = layerNorm(x, p[0], p[1], layerNormEpsilon);
    const attended = attention(shape, linear(normal, p[2], p[3]), mask);
    x = tf.add(x, linear(attended, p[4], p[5]));
    const second = layerNorm(x, p[6], p[7], layerNormEpsilon);
    x = tf.add(x, linear(gelu(linear(second, p[8], p[9])), p[10], p[11]));
  }
  const [gamma, beta] = parameters.slice(-2);
  const last = layerNorm(x, gamma, beta, layerNormEpsilon);
  const logits = tf.matMul(tf.reshape(last, [samples * tokens, width]), wte, false, true);
  const labels = tf.oneHot(tf.reshape(targets, [samples * tokens]), vocabSize);
  return tf.losses.softmaxCrossEntropy(labels, logits) as tf.Scalar;
}

type Parameter = tf.Tensor | undefined;

function linear(x: tf.Tensor, weight: Parameter, bias: Parameter): tf.Tensor {
  const [inner, outer] = (weight as tf.Tensor2D).shape;
  const rows = tf.reshape(x, [-1, inner]) as tf.Tensor2D;
  const product = tf.add(tf.matMul(rows, weight as tf.Tensor2D), bias as tf.Tensor);
  return tf.reshape(product, [...x.shape.slice(0, -1), outer]);
}

export function layerNorm(x: tf.Tensor, gamma: Parameter, beta: Parameter, epsilon: number): tf.Tensor {
  const { mean, variance } = tf.moments(x, -1, true);
  const normal = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, epsilon)));
  return tf.add(tf.mul(normal, gamma as tf.Tensor), beta as tf.Tensor);
}

function gelu(x: tf.Tensor): tf.Tensor {
  const cubed = tf.mul(tf.mul(x, x), x);
  const inner = tf.mul(tf.add(x, tf.mul(cubed, 0.044715)), Math.sqrt(2 / Math.PI));
  return tf.mul(tf.mul(x, 0.5), tf.add(tf.tanh(inner), 1));
}

export function causalMask(tokens: number): tf.Tensor2D {
  const lower = tf.linalg.bandPart(tf.ones([tokens, tokens]), -1, 0);
  return tf.mul(tf.sub(1, lower), -1e9) as tf.Tensor2D;
}

/** @param qkv [..., 3 x width]: queries, keys and values side by side. @returns [samples, tokens, width]. */
export function attention(
  { samples, tokens, heads, width }: AttentionShape,
  qkv: tf.Tensor,
  mask: tf.Tensor2D,
): tf.Tensor3D {
  const byHead = (part: tf.Tensor): tf.Tensor =>
    tf.transpose(tf.reshape(part, [samples, tokens, heads, width / heads]), [0, 2, 1, 3]);
  const [q, k, v] = tf.split(qkv, 3, -1).map(byHead) as [tf.Tensor, tf.Tensor, tf.Tensor];
  const scale = 1 / Math.sqrt(width / heads);
  const scores = tf.add(tf.mul(tf.matMul(q, k, false, true), scale), mask);
  const output = tf.matMul(tf.softmax(scores), v);
  return tf.reshape(tf.transpose(output, [0, 2, 1, 3]), [samples, tokens, width]);
}

export interface AttentionShape {
  samples: number;
  tokens: number;
  heads: number;
  width: number;
}
