/** What is trained: shapes, and how much work a step of each is. Shared by the page and the harness. */
import { gpt2Layout, type Gpt2Config, type ParameterLayout } from '@tabweave/shared';

export interface Gpt2Model {
  kind: 'gpt2';
  name: string;
  config: Gpt2Config;
  tokens: number;
  samples: number;
}

/** 28 x 28 images of one channel: two convolutions, each with ReLU and pooling, and a dense layer. */
export interface CnnModel {
  kind: 'cnn';
  name: string;
  samples: number;
}

export type Model = Gpt2Model | CnnModel;

export const modelNames = ['tiny', 'cnn', 'small', 'distil', '124M'] as const;
export type ModelName = (typeof modelNames)[number];

const gpt2 = (
  name: string,
  shape: { vocabSize: number; width: number; layers: number; heads: number },
  run: { tokens: number; samples: number },
): Gpt2Model => ({
  kind: 'gpt2',
  name,
  config: {
    ...shape,
    positions: run.tokens,
    inner: 4 * shape.width,
    layerNormEpsilon: 1e-5,
    initializerRange: 0.02,
  },
  ...run,
});

export const models: Record<ModelName, Model> = {
  tiny: gpt2('tiny', { vocabSize: 65, width: 64, layers: 2, heads: 2 }, { tokens: 32, samples: 4 }),
  cnn: { kind: 'cnn', name: 'cnn', samples: 16 },
  small: gpt2('small', { vocabSize: 65, width: 128, layers: 4, heads: 4 }, { tokens: 64, samples: 8 }),
  distil: gpt2(
    'distil',
    { vocabSize: 50_257, width: 768, layers: 6, heads: 12 },
    { tokens: 1024, samples: 1 },
  ),
  '124M': gpt2(
    '124M',
    { vocabSize: 50_257, width: 768, layers: 12, heads: 12 },
    { tokens: 1024, samples: 1 },
  ),
};

export const cnnShapes = {
  side: 28,
  classes: 10,
  tensors: [
    { name: 'conv1.weight', shape: [3, 3, 1, 8] },
    { name: 'conv1.bias', shape: [8] },
    { name: 'conv2.weight', shape: [3, 3, 8, 16] },
    { name: 'conv2.bias', shape: [16] },
    { name: 'dense.weight', shape: [7 * 7 * 16, 10] },
    { name: 'dense.bias', shape: [10] },
  ],
} as const;

export function layoutOf(model: Model): Pick<ParameterLayout, 'size'> & {
  tensors: readonly { name: string; shape: readonly number[]; size: number; offset: number }[];
} {
  if (model.kind === 'gpt2') return gpt2Layout(model.config);
  let size = 0;
  const tensors = cnnShapes.tensors.map(({ name, shape }) => {
    const elements = shape.reduce((product: number, side: number) => product * side, 1);
    const tensor = { name, shape, size: elements, offset: size };
    size += elements;
    return tensor;
  });
  return { tensors, size };
}

/** Multiplications and additions of a step in products and convolutions; the backward pass is twice the forward. */
export function stepFlops(model: Model): number {
  const { samples } = model;
  if (model.kind === 'cnn') {
    const first = 28 * 28 * 9 * 8;
    const second = 14 * 14 * 9 * 8 * 16;
    return 3 * 2 * samples * (first + second + 7 * 7 * 16 * 10);
  }
  const { width, inner, layers, vocabSize } = model.config;
  const tokens = model.tokens * samples;
  const weights = layers * (4 * width * width + 2 * width * inner) + vocabSize * width;
  // Scores and their product with the values, over all pairs of tokens, masked or not.
  const attention = layers * 2 * model.tokens * width;
  return 3 * 2 * tokens * (weights + attention);
}

/** The least that a step moves: parameters read, gradients written. */
export function stepBytes(model: Model): number {
  return 8 * layoutOf(model).size;
}

/** A guess at the device memory of a step that keeps every intermediate, as op-by-op differentiation does. */
export function stepMemory(model: Model): number {
  const parameters = 4 * layoutOf(model).size;
  if (model.kind === 'cnn') return 3 * parameters + 4 * model.samples * 28 * 28 * 8 * 10;
  const { width, layers, heads, vocabSize } = model.config;
  const tokens = model.tokens * model.samples;
  const perLayer = 60 * width + 5 * heads * model.tokens;
  return 3 * parameters + 4 * tokens * (layers * perLayer + 5 * vocabSize);
}

/** Bytes of the largest tensor, which must fit one buffer binding. */
export function largestTensor(model: Model): number {
  if (model.kind === 'cnn') return 4 * model.samples * 28 * 28 * 8;
  const { vocabSize, width, heads } = model.config;
  const tokens = model.tokens * model.samples;
  return 4 * Math.max(vocabSize * width, tokens * vocabSize, heads * tokens * model.tokens);
}
