/** GPT-2 with jax-js's own functions: `nn.dotProductAttention`, `nn.standardize`, `nn.gelu`, `np.take`. */
import { nn, numpy as np } from '@jax-js/jax';
import type { Gpt2Model } from '../../models.ts';
import type { AttentionShape } from './tfjs-gpt2.ts';

const tensorsPerBlock = 12;

/**
 * Every argument is consumed, as jax-js has it.
 * @param ids [samples, tokens]. @param targets [samples x tokens]. @returns the mean loss.
 */
export function gpt2Loss(
  model: Gpt2Model,
  parameters: np.Array[],
  ids: np.Array,
  targets: np.Array,
): np.Array {
  const { config, samples, tokens } = model;
  const { width, layers, heads, vocabSize, layerNormEpsilon: epsilon } = config;
  const shape = { samples, tokens, heads, width };
  const [wte, wpe] = parameters as [np.Array, np.Array];
  // No reshaping behind the lookup: the compiler refuses the gradient of a gather that comes as a view.
  let x = np.take(wte.ref, ids, 0).add(wpe);
  for (let layer = 0; layer < layers; layer++) {
    const first = 2 + layer * tensorsPerBlock;
    const p = parameters.slice(first, first + tensorsPerBlock) as Block;
    const qkv = linear(layerNorm(x.ref, p[0], p[1], epsilon), p[2], p[3]);
    const attended = attention(shape, qkv).reshape([samples, tokens, width]);
    x = x.add(linear(attended, p[4], p[5]));
    const hidden = nn.gelu(linear(layerNorm(x.ref, p[6], p[7], epsilon), p[8], p[9]));
    x = x.add(linear(hidden, p[10], p[11]));
  }
  const [gamma, beta] = parameters.slice(-2) as [np.Array, np.Array];
  const last = layerNorm(x, gamma, beta, epsilon).reshape([samples * tokens, width]);
  return meanCrossEntropy(np.matmul(last, wte.transpose()), targets, vocabSize);
}

type Block = [
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
  np.Array,
];

const linear = (x: np.Array, weight: np.Array, bias: np.Array): np.Array => np.matmul(x, weight).add(bias);

/** @param qkv queries, keys and values side by side, of any leading shape. @returns [samples x tokens, width]. */
export function attention({ samples, tokens, heads, width }: AttentionShape, qkv: np.Array): np.Array {
  const [q, k, v] = np
    .split(qkv, 3, -1)
    .map((part) => part.reshape([samples, tokens, heads, width / heads])) as [np.Array, np.Array, np.Array];
  return nn.dotProductAttention(q, k, v, { isCausal: true }).reshape([samples * tokens, width]);
}

export function layerNorm(x: np.Array, gamma: np.Array, beta: np.Array, epsilon: number): np.Array {
  return nn.standardize(x, -1, { epsilon }).mul(gamma).add(beta);
}

/** @param logits [rows, classes]. @param labels int32 [rows]. */
export function meanCrossEntropy(logits: np.Array, labels: np.Array, classes: number): np.Array {
  const rows = logits.shape[0] as number;
  return nn
    .logSoftmax(logits, -1)
    .mul(nn.oneHot(labels, classes))
    .sum()
    .mul(-1 / rows);
}
