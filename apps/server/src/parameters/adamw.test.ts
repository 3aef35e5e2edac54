import { gpt2Layout, recipeSchema } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { adamwStep, createOptimizerState, learningRate } from './adamw.ts';

const config = {
  vocabSize: 5,
  positions: 4,
  width: 4,
  layers: 1,
  heads: 2,
  inner: 8,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
const layout = gpt2Layout(config);

/** Textbook AdamW in float64, from the paper's algorithm 2, one value at a time. */
function reference(steps: number, gradients: number[], start: number, decay: boolean): number {
  const recipe = recipeSchema.parse({
    blockSize: 4,
    schedule: 'constant',
    gradientClip: 0,
    weightDecay: 0.1,
  });
  let [m, v, p] = [0, 0, start];
  for (let t = 1; t <= steps; t++) {
    const g = gradients[t - 1] as number;
    m = recipe.beta1 * m + (1 - recipe.beta1) * g;
    v = recipe.beta2 * v + (1 - recipe.beta2) * g * g;
    const mHat = m / (1 - recipe.beta1 ** t);
    const vHat = v / (1 - recipe.beta2 ** t);
    p -=
      recipe.learningRate *
      (mHat / (Math.sqrt(vHat) + recipe.epsilon) + (decay ? recipe.weightDecay * p : 0));
  }
  return p;
}

describe('adamwStep', () => {
  it('follows AdamW in float64 over many steps, decaying matrices and nothing else', () => {
    const recipe = recipeSchema.parse({
      blockSize: 4,
      schedule: 'constant',
      gradientClip: 0,
      weightDecay: 0.1,
    });
    const state = createOptimizerState(Float32Array.from({ length: layout.size }, (_, i) => Math.sin(i)));
    const start = Float32Array.from(state.parameters);
    const series = Array.from({ length: 20 }, (_, t) => Math.cos(3 * t) + 0.2);
    for (const [t, g] of series.entries()) {
      adamwStep(state, new Float32Array(layout.size).fill(g), layout, recipe, t);
    }
    for (const tensor of layout.tensors) {
      const index = tensor.offset + (tensor.size >> 1);
      const expected = reference(20, series, start[index] as number, tensor.shape.length === 2);
      expect(state.parameters[index], tensor.name).toBeCloseTo(expected, 5);
    }
  });

  it('clips by the global norm and reports the norm before', () => {
    const recipe = recipeSchema.parse({ blockSize: 4, gradientClip: 0.5 });
    const gradient = new Float32Array(layout.size).fill(2);
    const clipped = createOptimizerState(new Float32Array(layout.size));
    const result = adamwStep(clipped, gradient, layout, recipe, 0);
    expect(result.gradientNorm).toBeCloseTo(2 * Math.sqrt(layout.size), 3);
    expect(result.clipped).toBe(true);
    const expected = (0.5 / Math.sqrt(layout.size)) * (1 - recipe.beta1);
    expect(clipped.firstMoment[7]).toBeCloseTo(expected, 8);
    expect(adamwStep(clipped, new Float32Array(layout.size), layout, recipe, 1).clipped).toBe(false);
  });
});

describe('learningRate', () => {
  const recipe = recipeSchema.parse({
    blockSize: 4,
    learningRate: 1,
    warmupSteps: 10,
    maxSteps: 110,
    minimumLearningRateRatio: 0.1,
  });

  it('warms up linearly to its peak, halves its way at half time, and ends at the floor', () => {
    expect(learningRate(recipe, 0)).toBeCloseTo(0.1);
    expect(learningRate(recipe, 9)).toBeCloseTo(1);
    expect(learningRate(recipe, 10)).toBeCloseTo(1);
    expect(learningRate(recipe, 60)).toBeCloseTo(0.55);
    expect(learningRate(recipe, 110)).toBeCloseTo(0.1);
    expect(learningRate(recipe, 1000)).toBeCloseTo(0.1);
  });
});
