/**
 * GPT-2 as in Hugging Face's GPT2LMHeadModel: learned positions, pre-norm blocks, tanh GELU, tied head, Conv1D
 * weights [in, out]. Tensors come in the order of the shared parameter layout.
 */
import { causalAttention, embedding, gelu, layerNorm, linear } from '@tabweave/kernels';
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
  const { width } = config;
  const [wte, wpe] = parameters as [tf.Tensor2D, tf.Tensor2D];
  const words: tf.Tensor3D = tf.reshape(embedding(wte, ids), [samples, tokens, width]);
  const positions: tf.Tensor3D = tf.reshape(tf.slice(wpe, [0, 0], [tokens, width]), [1, tokens, width]);
  let x: tf.Tensor2D = tf.reshape(addPositions(words, positions), [samples * tokens, width]);
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
  const attended = attention(config, qkv, samples, tokens);
  const afterAttention = tf.add(x, linear(attended, matrix(4), vector(5))) as tf.Tensor2D;
  const second = layerNorm(afterAttention, vector(6), vector(7), epsilon);
  const hidden = gelu(linear(second, matrix(8), vector(9)));
  return tf.add(afterAttention, linear(hidden, matrix(10), vector(11))) as tf.Tensor2D;
}

function attention(config: Gpt2Config, qkv: tf.Tensor2D, samples: number, tokens: number): tf.Tensor2D {
  const { heads, width } = config;
  const headWidth = width / heads;
  const split = (index: number): tf.Tensor3D => {
    const part = tf.slice(qkv, [0, index * width], [samples * tokens, width]);
    const byHead = tf.transpose(tf.reshape(part, [samples, tokens, heads, headWidth]), [0, 2, 1, 3]);
    return tf.reshape(byHead, [samples * heads, tokens, headWidth]);
  };
  const output = causalAttention(split(0), split(1), split(2));
  const byToken = tf.transpose(tf.reshape(output, [samples, heads, tokens, headWidth]), [0, 2, 1, 3]);
  return tf.reshape(byToken, [samples * tokens, width]);
}

/** words [samples, tokens, width] + positions [1, tokens, width]; the gradient of the latter sums over samples. */
function addPositions(words: tf.Tensor3D, positions: tf.Tensor3D): tf.Tensor3D {
  const [samples, tokens, width] = words.shape;
  const op = tf.customGrad((...inputs: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const [w, p] = inputs as [tf.Tensor3D, tf.Tensor3D];
    return {
      value: tf.add(w, p),
      gradFunc: (dy: tf.Tensor) => {
        const summed = tf.matMul(tf.ones([1, samples]), tf.reshape(dy, [samples, tokens * width]));
        return [dy, tf.reshape(summed, [1, tokens, width])];
      },
    };
  });
  return op(words, positions) as tf.Tensor3D;
}
