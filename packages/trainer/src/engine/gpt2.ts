/**
 * GPT-2 as in Hugging Face's GPT2LMHeadModel: learned positions, pre-norm blocks, tanh GELU, tied head, Conv1D
 * weights [in, out]. Tensors come in the order of the shared parameter layout.
 */
import { embeddingWithPositions, layerNorm, linear, selfAttention } from '@tabweave/kernels';
import type { Gpt2Config } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';

const tensorsPerBlock = 12;

/**
 * @param parameters all tensors of the layout.
 * @param ids int32 [samples x tokens].
 * @returns logits [samples x tokens, vocabSize].
 */
export function gpt2Logits(
  config: Gpt2Config,
  parameters: readonly tf.Tensor[],
  ids: tf.Tensor1D,
  samples: number,
  tokens: number,
): tf.Tensor2D {
  const [wte, wpe] = parameters as [tf.Tensor2D, tf.Tensor2D];
  let x = embeddingWithPositions(wte, wpe, ids, tokens);
  for (let layer = 0; layer < config.layers; layer++) {
    const first = 2 + layer * tensorsPerBlock;
    x = block(config, parameters.slice(first, first + tensorsPerBlock), x, samples, tokens);
  }
  const [gamma, beta] = parameters.slice(-2) as [tf.Tensor1D, tf.Tensor1D];
  const last = layerNorm(x, gamma, beta, config.layerNormEpsilon);
  return tf.matMul(last, wte, false, true);
}

function block(
  config: Gpt2Config,
  parameters: readonly tf.Tensor[],
  x: tf.Tensor2D,
  samples: number,
  tokens: number,
): tf.Tensor2D {
  const matrix = (index: number): tf.Tensor2D => parameters[index] as tf.Tensor2D;
  const vector = (index: number): tf.Tensor1D => parameters[index] as tf.Tensor1D;
  const epsilon = config.layerNormEpsilon;
  const normal = layerNorm(x, vector(0), vector(1), epsilon);
  const qkv = linear(normal, matrix(2), vector(3));
  const { heads, width } = config;
  const attended = selfAttention(qkv, {
    samples,
    tokens,
    heads,
    keyValueHeads: heads,
    headWidth: width / heads,
  });
  const afterAttention = tf.add(x, linear(attended, matrix(4), vector(5))) as tf.Tensor2D;
  const second = layerNorm(afterAttention, vector(6), vector(7), epsilon);
  const hidden = linear(second, matrix(8), vector(9), 'gelu');
  return tf.add(afterAttention, linear(hidden, matrix(10), vector(11))) as tf.Tensor2D;
}
