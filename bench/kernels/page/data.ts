/** Parameters and data that are the same for every contender: a seeded generator, nothing downloaded. */
import { cnnShapes, layoutOf, type Model } from '../models.ts';

export interface ModelData {
  /** In the order of the model's layout. */
  parameters: Float32Array;
  /** GPT-2: [samples, tokens + 1]. CNN: the classes, [samples]. */
  tokens: Int32Array;
  /** CNN: [samples, 28, 28, 1]; otherwise empty. */
  images: Float32Array;
}

/** Mulberry32: numbers in [0, 1). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function uniform(random: () => number, size: number, halfRange: number, centre = 0): Float32Array {
  return Float32Array.from({ length: size }, () => centre + (2 * random() - 1) * halfRange);
}

export function integers(random: () => number, size: number, below: number): Int32Array {
  return Int32Array.from({ length: size }, () => Math.floor(random() * below));
}

export function modelData(model: Model, seed = 1): ModelData {
  const random = randomNumbers(seed);
  const layout = layoutOf(model);
  const parameters = new Float32Array(layout.size);
  for (const { name, shape, size, offset } of layout.tensors) {
    const vector = shape.length === 1;
    // Gains about 1, and biases away from 0, so that a contender that forgets one is found out.
    const gain = vector && /ln_\w+\.weight$/.test(name);
    const fanIn = shape.slice(0, -1).reduce((product, side) => product * side, 1);
    const range = vector
      ? 0.1
      : name.includes('.wte.') || name.includes('.wpe.')
        ? 0.1
        : 1 / Math.sqrt(fanIn);
    parameters.set(uniform(random, size, range, gain ? 1 : 0), offset);
  }
  if (model.kind === 'cnn') {
    const { side, classes } = cnnShapes;
    return {
      parameters,
      images: uniform(random, model.samples * side * side, 0.5, 0.5),
      tokens: integers(random, model.samples, classes),
    };
  }
  return {
    parameters,
    images: new Float32Array(0),
    tokens: integers(random, model.samples * (model.tokens + 1), model.config.vocabSize),
  };
}

/** Rows of [samples, tokens + 1] as inputs (all but the last) and targets (all but the first). */
export function inputsAndTargets(
  rows: Int32Array,
  samples: number,
  tokens: number,
): { inputs: Int32Array; targets: Int32Array } {
  const inputs = new Int32Array(samples * tokens);
  const targets = new Int32Array(samples * tokens);
  for (let sample = 0; sample < samples; sample++) {
    const start = sample * (tokens + 1);
    inputs.set(rows.subarray(start, start + tokens), sample * tokens);
    targets.set(rows.subarray(start + 1, start + tokens + 1), sample * tokens);
  }
  return { inputs, targets };
}
