/** Every kernel factory with the shapes on which it is compiled: odd lengths, multiples of four, and GPT-2 (124M). */
import { backend_util } from '@tensorflow/tfjs-core';
import { attentionBackwardKeys, attentionBackwardQueries, attentionForward } from '../attend/attention.ts';
import type { AttentionShape } from '../attend/shape.ts';
import type { Feedback } from '../codec/feedback.ts';
import { packFloat16Kernel, unpackFloat16Kernel } from '../codec/float16-kernels.ts';
import { packInt8Kernel, unpackInt8Kernel } from '../codec/int8-kernels.ts';
import * as topK from '../codec/top-k-kernels.ts';
import { convForward, convInputGradient } from '../conv/convolution.ts';
import { depthwiseFilterGradient, depthwiseForward, depthwiseInputGradient } from '../conv/depthwise.ts';
import { convFilterGradient } from '../conv/filter-gradient.ts';
import { poolForward, poolGradient } from '../conv/pool.ts';
import { rowOperation } from '../conv/row-operations.ts';
import { convShape, type ConvShape } from '../conv/shape.ts';
import * as elementwise from '../elementwise/elementwise.ts';
import { rotaryKernel } from '../elementwise/rotary.ts';
import { sumKernel } from '../elementwise/sum.ts';
import * as embedding from '../embed/embedding.ts';
import type { DeviceTraits, Kernel } from '../kernel/kernel.ts';
import { crossEntropyKernel } from '../loss/cross-entropy.ts';
import { candidateTiles, matMulKernel } from '../matmul/matmul.ts';
import type { MatMulProblem } from '../matmul/problem.ts';
import { normBackward, normForward, normParameterSums } from '../norm/norm.ts';
import { accumulateKernel, scaleByKernel } from '../optimizer/accumulate.ts';
import { adamWKernel } from '../optimizer/adam-w.ts';
import { clipFactorKernel, squaresKernel, totalKernel } from '../optimizer/gradient-norm.ts';
import { sgdKernel } from '../optimizer/sgd.ts';
import { reduceKernels, sumOnce } from '../reduce/reduce.ts';
import { softmaxKernel } from '../reduce/softmax.ts';

/** Kernels of one factory for a device. */
type Factory = (traits: DeviceTraits) => Kernel[];

/** All pairs of the two lists. */
const pairs = <A, B>(as: readonly A[], bs: readonly B[]): [A, B][] =>
  as.flatMap((a) => bs.map((b): [A, B] => [a, b]));

const gpt2 = { tokens: 1024, width: 768, heads: 12, vocabulary: 50_257 } as const;

/** Elements of whole tensors; the last need more than 65,535 workgroups of 64 quads. */
const sizes = [1, 3, 64, 1025, 4100, 30_000_004, 30_000_003];
/** Rows and columns; the last rows are more than 65,535. */
const matrices = [
  [1, 1],
  [3, 5],
  [7, 8],
  [70, 64],
  [33, 515],
  [gpt2.tokens, gpt2.width],
  [70_000, 12],
] as const;

const attentionShapes: AttentionShape[] = [
  ...[4, 8, 12, 16, 32, 64, 96, 128].map((headWidth) => ({
    samples: 1,
    tokens: 7,
    heads: 2,
    keyValueHeads: 1,
    headWidth,
  })),
  { samples: 1, tokens: 1, heads: 1, keyValueHeads: 1, headWidth: 4 },
  { samples: 2, tokens: 64, heads: 4, keyValueHeads: 4, headWidth: 8 },
  { samples: 8, tokens: gpt2.tokens, heads: gpt2.heads, keyValueHeads: gpt2.heads, headWidth: 64 },
  { samples: 512, tokens: gpt2.tokens, heads: gpt2.heads, keyValueHeads: 4, headWidth: 16 },
];

const normShapes = pairs(matrices, [true, false]).map(([[rows, columns], rms]) => ({
  rows,
  columns,
  epsilon: 1e-5,
  rms,
}));

const embeddingShapes = [
  { rows: 1, entries: 1, columns: 1, positions: 0 },
  { rows: 9, entries: 5, columns: 3, positions: 3 },
  { rows: 64, entries: 65, columns: 64, positions: 16 },
  { rows: 8 * gpt2.tokens, entries: gpt2.vocabulary, columns: gpt2.width, positions: gpt2.tokens },
];

const folded: Partial<MatMulProblem>[] = [
  {},
  { bias: true },
  { bias: true, activation: 'relu' },
  { bias: true, activation: 'gelu', keepPreActivation: true },
  { residual: true },
  { bias: true, activation: 'gelu', keepPreActivation: true, residual: true },
  { columnSums: true },
];

const layouts = pairs([false, true], [false, true]).map(([transposeA, transposeB]) => ({
  transposeA,
  transposeB,
}));

const matMulProblems: MatMulProblem[] = [
  // Edges in every direction, with everything that can be folded in.
  ...[
    { batch: 1, m: 1, n: 1, k: 1 },
    { batch: 1, m: 33, n: 65, k: 17 },
    { batch: 1, m: 64, n: 128, k: 32 },
    { batch: 1, m: 36, n: 20, k: 7 },
  ].flatMap((size) =>
    pairs(layouts, folded).map(([layout, folding]) => ({ ...size, ...layout, ...folding })),
  ),
  ...pairs(layouts, [{ sharedA: true }, { sharedB: true }, { residual: true }]).map(([layout, rest]) => ({
    batch: 3,
    m: 18,
    n: 12,
    k: 20,
    ...layout,
    ...rest,
  })),
  // GPT-2's layers, and their gradients.
  ...(
    [
      [gpt2.tokens, 3 * gpt2.width, gpt2.width],
      [gpt2.tokens, gpt2.width, 4 * gpt2.width],
      [8 * gpt2.tokens, 4 * gpt2.width, gpt2.width],
      [gpt2.tokens, gpt2.vocabulary, gpt2.width],
      [gpt2.vocabulary, gpt2.width, gpt2.tokens],
    ] as const
  ).flatMap(([m, n, k]) => layouts.map((layout) => ({ batch: 1, m, n, k, ...layout }))),
  // More than 65,535 workgroups.
  ...layouts.map((layout) => ({ batch: 96, m: 1024, n: 1024, k: 64, ...layout })),
];

type Window = [size: number, stride: number, dilation: number, padding: 'same' | 'valid'];
const windows: Window[] = [
  [1, 1, 1, 'valid'],
  [3, 1, 1, 'same'],
  [3, 2, 1, 'same'],
  [3, 1, 2, 'valid'],
  [7, 2, 1, 'same'],
];
type Image = [batch: number, height: number, width: number, channels: number];
/** The last has more than 65,535 workgroups. */
const images: Image[] = [
  [1, 7, 9, 1],
  [2, 11, 8, 3],
  [2, 9, 13, 8],
  [32, 28, 28, 16],
  [64, 112, 112, 96],
];

/** @param alone `outChannels` for each input channel, from that one only (depthwise). */
function windowOver(
  image: Image,
  outChannels: number,
  [size, stride, dilation, padding]: Window,
  alone: boolean,
): ConvShape {
  const filter: Image = [size, size, image[3], outChannels];
  const info = backend_util.computeConv2DInfo(image, filter, stride, dilation, padding, undefined, alone);
  const shape = convShape(info);
  if (!shape) throw new Error(`no convolution: ${image.join('x')}, ${filter.join('x')}`);
  return shape;
}

const convolutions = pairs(pairs(images, windows), [1, 6, 16]).map(([[image, window], outChannels]) =>
  windowOver(image, outChannels, window, false),
);
const depthwises = pairs(pairs(images, windows), [1, 2, 4]).map(([[image, window], multiplier]) =>
  windowOver(image, multiplier, window, true),
);

const pools = pairs(
  pairs(images, windows).map(([image, window]) => windowOver(image, 1, window, true)),
  ['max', 'mean'] as const,
);

const reduceShapes = [
  { outer: 1, length: 1, inner: 1 },
  { outer: 5, length: 7, inner: 3 },
  { outer: 6, length: 64, inner: 1 },
  { outer: 1, length: 1000, inner: 12 },
  { outer: 1, length: 30_000_004, inner: 1 },
  { outer: 70_000, length: 768, inner: 1 },
  { outer: 8, length: gpt2.tokens, inner: gpt2.vocabulary },
];

const feedbacks: Feedback[] = ['none', 'first', 'next'];
const bytes = [3, 2, 1, 0];

/** By the name of the factory. `compile.test.ts` finds what is missing here. */
export const everyKernel: Record<string, Factory> = {
  matMulKernel: (traits) =>
    matMulProblems.flatMap((problem) =>
      candidateTiles(problem, traits).map((tile) => matMulKernel(problem, tile, traits)),
    ),
  attentionForward: (traits) => attentionShapes.map((shape) => attentionForward(shape, traits)),
  attentionBackwardQueries: (traits) =>
    attentionShapes.map((shape) => attentionBackwardQueries(shape, traits)),
  attentionBackwardKeys: (traits) => attentionShapes.map((shape) => attentionBackwardKeys(shape, traits)),
  normForward: (traits) => normShapes.map((shape) => normForward(shape, traits)),
  normBackward: (traits) => normShapes.map((shape) => normBackward(shape, traits)),
  normParameterSums: (traits) => normShapes.map((shape) => normParameterSums(shape, traits)),
  crossEntropyKernel: (traits) =>
    pairs([...matrices, [8 * gpt2.tokens, gpt2.vocabulary]] as const, [true, false]).map(
      ([[rows, classes], gradient]) => crossEntropyKernel({ rows, classes, scale: 1 / 3, gradient }, traits),
    ),
  embeddingForward: () => embeddingShapes.map(embedding.embeddingForward),
  embeddingChains: () => embeddingShapes.map(({ rows }) => embedding.embeddingChains(rows)),
  embeddingBackward: () => embeddingShapes.map(embedding.embeddingBackward),
  positionsBackward: (traits) =>
    embeddingShapes
      .filter(({ positions }) => positions > 0)
      .map((shape) => embedding.positionsBackward(shape, traits)),
  convForward: (traits) =>
    pairs(convolutions, [{}, { bias: true, relu: true }]).map(([shape, options]) =>
      convForward(shape, traits, options),
    ),
  convInputGradient: (traits) => convolutions.map((shape) => convInputGradient(shape, traits)),
  convFilterGradient: (traits) =>
    convolutions
      .filter(({ dilationWidth }) => dilationWidth === 1)
      .map((shape) => convFilterGradient(shape, traits)),
  depthwiseForward: (traits) => depthwises.map((shape) => depthwiseForward(shape, traits)),
  depthwiseInputGradient: (traits) => depthwises.map((shape) => depthwiseInputGradient(shape, traits)),
  depthwiseFilterGradient: (traits) => depthwises.map((shape) => depthwiseFilterGradient(shape, traits)),
  poolForward: () => pools.map(([shape, pooling]) => poolForward(pooling, shape)),
  poolGradient: () => pools.map(([shape, pooling]) => poolGradient(pooling, shape)),
  rowOperation: () =>
    pairs(pairs(matrices, ['+', '-', '*', '/'] as const), [true, false]).map(
      ([[[rows, columns], operator], rowFirst]) => rowOperation(operator, { rows, columns, rowFirst }),
    ),
  sumOnce: (traits) => reduceShapes.map((shape) => sumOnce(shape, traits)),
  reduceKernels: (traits) =>
    pairs(reduceShapes, ['sum', 'mean', 'max', 'min'] as const).flatMap(([shape, operation]) =>
      reduceKernels(operation, shape, traits),
    ),
  softmaxKernel: (traits) =>
    ([...matrices, [8 * gpt2.tokens, gpt2.vocabulary]] as const).map(([rows, columns]) =>
      softmaxKernel(rows, columns, traits),
    ),
  addKernel: () => sizes.map(elementwise.addKernel),
  'elementwise/accumulateKernel': () => sizes.map(elementwise.accumulateKernel),
  copyKernel: () => sizes.map(elementwise.copyKernel),
  zeroKernel: () => sizes.map(elementwise.zeroKernel),
  geluForward: () => sizes.map(elementwise.geluForward),
  geluBackward: () => sizes.map(elementwise.geluBackward),
  reluBackward: () => sizes.map(elementwise.reluBackward),
  scaleKernel: () => sizes.map(elementwise.scaleKernel),
  swigluForward: () => matrices.map(([rows, columns]) => elementwise.swigluForward(rows, columns)),
  swigluBackward: () => matrices.map(([rows, columns]) => elementwise.swigluBackward(rows, columns)),
  rotaryKernel: () =>
    pairs(
      [
        { samples: 1, tokens: 1, heads: 1, headWidth: 2 },
        { samples: 2, tokens: 9, heads: 3, headWidth: 6 },
        { samples: 64, tokens: gpt2.tokens, heads: gpt2.heads, headWidth: 64 },
      ],
      [true, false],
    ).map(([shape, backward]) => rotaryKernel({ ...shape, base: 10_000 }, backward)),
  sumKernel: (traits) => [1, 7, 64, 1000, 8192].map((elements) => sumKernel(elements, traits)),
  packFloat16Kernel: (traits) =>
    pairs(sizes, feedbacks).map(([size, feedback]) => packFloat16Kernel(size, traits, feedback)),
  unpackFloat16Kernel: (traits) => sizes.map((size) => unpackFloat16Kernel(size, traits)),
  packInt8Kernel: (traits) =>
    pairs(sizes, feedbacks).map(([size, feedback]) => packInt8Kernel(size, traits, feedback)),
  unpackInt8Kernel: (traits) => sizes.map((size) => unpackInt8Kernel(size, traits)),
  startKernel: () => [1, 1000].map(topK.startKernel),
  histogramKernel: (traits) =>
    pairs(sizes, bytes).map(([size, byte]) => topK.histogramKernel(size, byte, traits)),
  settleKernel: (traits) => bytes.map((byte) => topK.settleKernel(byte, traits)),
  tallyKernel: (traits) => sizes.map((size) => topK.tallyKernel(size, traits)),
  scanKernel: (traits) => sizes.map((size) => topK.scanKernel(size, traits)),
  collectKernel: (traits) => sizes.map((size) => topK.collectKernel(size, Math.ceil(size / 10), traits)),
  adamWKernel: (traits) => sizes.map((size) => adamWKernel(size, traits)),
  sgdKernel: (traits) =>
    pairs(sizes, ['none', 'heavy-ball', 'nesterov'] as const).map(([size, momentum]) =>
      sgdKernel(size, traits, momentum),
    ),
  'optimizer/accumulateKernel': (traits) => sizes.map((size) => accumulateKernel(size, traits)),
  scaleByKernel: (traits) => sizes.map((size) => scaleByKernel(size, traits)),
  squaresKernel: (traits) => sizes.map((size) => squaresKernel(size, traits)),
  totalKernel: (traits) =>
    pairs(sizes, [true, false]).map(([size, adding]) => totalKernel(size, traits, adding)),
  clipFactorKernel: () => [clipFactorKernel()],
};
