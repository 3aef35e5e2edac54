/**
 * Small inputs on which each kernel is compared with its twin. Sizes are odd, so that edges are crossed, and some
 * values are extreme: that is where drivers are on record as wrong.
 */
import * as tf from '@tensorflow/tfjs';
import * as ops from '../ops/index.ts';
import { attentionNames } from '../attend/attention.ts';
import * as twins from '../twins/index.ts';

type Inputs = readonly tf.Tensor[];
type Operation = (...inputs: tf.Tensor[]) => tf.Tensor;

export interface KernelCase {
  readonly name: string;
  /** Switched off together when the case fails. */
  readonly kernels: readonly string[];
  readonly shapes: readonly (readonly number[])[];
  /** Values of the first input beside the random ones. */
  readonly extremes?: readonly number[];
  readonly run: Operation;
  readonly twin: Operation;
}

const ids = (values: number[]): tf.Tensor1D => tf.tensor1d(values, 'int32');
const attention = { samples: 2, tokens: 5, heads: 2, keyValueHeads: 1, headWidth: 8 };
const turn = { samples: 1, tokens: 5, heads: 2, headWidth: 6, base: 10_000 };
const rows = [3, 0, 3, 6, 5, 3, 1];
const matrix = (tensor: tf.Tensor | undefined): tf.Tensor2D => tensor as tf.Tensor2D;
const vector = (tensor: tf.Tensor | undefined): tf.Tensor1D => tensor as tf.Tensor1D;

/** The same call on the kernels and on the twins; `f` gets either. */
function both(
  f: (from: typeof ops | typeof twins, inputs: Inputs) => tf.Tensor,
): Pick<KernelCase, 'run' | 'twin'> {
  return { run: (...inputs) => f(ops, inputs), twin: (...inputs) => f(twins, inputs) };
}

export const kernelCases: readonly KernelCase[] = [
  {
    name: 'matrix products',
    kernels: ['matmul'],
    shapes: [[9, 12], [12, 7], [7]],
    ...both((from, [x, w, b]) => from.linear(matrix(x), matrix(w), vector(b), 'none')),
  },
  {
    name: 'GELU',
    kernels: ['gelu-forward', 'gelu-backward'],
    shapes: [[3, 9]],
    extremes: [-1e30, -1e4, -88, -11, -3, 0, 1e-30, 3, 11, 88, 1e4, 1e30],
    ...both((from, [x]) => from.gelu(matrix(x))),
  },
  {
    name: 'SwiGLU',
    kernels: ['swiglu-forward', 'swiglu-backward'],
    shapes: [[5, 14]],
    extremes: [-200, -30, 30, 200],
    ...both((from, [x]) => from.swiglu(matrix(x))),
  },
  {
    name: 'layer norm',
    kernels: ['layer-norm-forward', 'layer-norm-backward'],
    shapes: [[67, 9], [9], [9]],
    ...both((from, [x, g, b]) => from.layerNorm(matrix(x), vector(g), vector(b), 1e-5)),
  },
  {
    name: 'RMS norm',
    kernels: ['rms-norm-forward', 'rms-norm-backward'],
    shapes: [[67, 9], [9]],
    ...both((from, [x, g]) => from.rmsNorm(matrix(x), vector(g), 1e-5)),
  },
  {
    name: 'attention',
    kernels: attentionNames,
    shapes: [[10, 32]],
    ...both((from, [qkv]) => from.selfAttention(matrix(qkv), attention)),
  },
  {
    name: 'rotary embedding',
    kernels: ['rotary-forward', 'rotary-backward'],
    shapes: [[5, 12]],
    ...both((from, [x]) => from.rotary(matrix(x), turn)),
  },
  {
    name: 'embedding',
    kernels: ['embedding-forward', 'embedding-backward'],
    shapes: [
      [7, 6],
      [7, 6],
    ],
    ...both((from, [table, places]) =>
      from.embeddingWithPositions(matrix(table), matrix(places), ids(rows), 7),
    ),
  },
  {
    name: 'cross-entropy',
    kernels: ['cross-entropy', 'sum', 'scale'],
    shapes: [[7, 11]],
    extremes: [1e4, -1e4, 80, -80],
    ...both((from, [logits]) => from.crossEntropySum(matrix(logits), ids([0, -1, 10, 3, 3, 5, 2]), 0.5)),
  },
  {
    name: 'sums',
    kernels: ['add', 'zero'],
    shapes: [
      [5, 7],
      [5, 7],
    ],
    run: (a, b) => tf.add(a as tf.Tensor, b as tf.Tensor),
    twin: (a, b) => tf.add(a as tf.Tensor, b as tf.Tensor),
  },
];
