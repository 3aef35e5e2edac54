/**
 * AdamW with decoupled weight decay (arXiv 1711.05101, algorithm 2), bias correction, clipping by global norm
 * (arXiv 1211.5063) and the warm-up + cosine schedule of GPT-2-style training. Plain float32 loops: the same
 * inputs give the same bits, which is what makes replay of the step log exact.
 */
import type { ParameterLayout, Recipe } from '@tabweave/shared';

export interface OptimizerState {
  parameters: Float32Array;
  firstMoment: Float32Array;
  secondMoment: Float32Array;
}

export function createOptimizerState(parameters: Float32Array): OptimizerState {
  return {
    parameters,
    firstMoment: new Float32Array(parameters.length),
    secondMoment: new Float32Array(parameters.length),
  };
}

/** Learning rate of the step that starts from parameter version `version` (0 for the first). */
export function learningRate(recipe: Recipe, version: number): number {
  const { learningRate: peak, warmupSteps, maxSteps, minimumLearningRateRatio } = recipe;
  if (version < warmupSteps) return (peak * (version + 1)) / warmupSteps;
  if (recipe.schedule === 'constant') return peak;
  const progress = Math.min(1, (version - warmupSteps) / Math.max(1, maxSteps - warmupSteps));
  const floor = peak * minimumLearningRateRatio;
  return floor + 0.5 * (peak - floor) * (1 + Math.cos(Math.PI * progress));
}

/** Euclidean norm, summed in float64. */
export function globalNorm(vector: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < vector.length; i++) {
    const value = vector[i] as number;
    sum += value * value;
  }
  return Math.sqrt(sum);
}

export interface StepResult {
  learningRate: number;
  /** Before clipping. */
  gradientNorm: number;
  clipped: boolean;
}

/** Applies the mean gradient of one step in place. `gradient` is left as it was. */
export function adamwStep(
  state: OptimizerState,
  gradient: Float32Array,
  layout: ParameterLayout,
  recipe: Recipe,
  version: number,
): StepResult {
  const { beta1, beta2, epsilon, weightDecay, gradientClip } = recipe;
  const rate = learningRate(recipe, version);
  const norm = globalNorm(gradient);
  const clipped = gradientClip > 0 && norm > gradientClip;
  const scale = clipped ? gradientClip / norm : 1;
  const correction1 = 1 - beta1 ** (version + 1);
  const correction2 = 1 - beta2 ** (version + 1);
  const { parameters, firstMoment, secondMoment } = state;
  for (const tensor of layout.tensors) {
    const shrink = tensor.decay ? 1 - rate * weightDecay : 1;
    const end = tensor.offset + tensor.size;
    for (let i = tensor.offset; i < end; i++) {
      const g = (gradient[i] as number) * scale;
      const m = beta1 * (firstMoment[i] as number) + (1 - beta1) * g;
      const v = beta2 * (secondMoment[i] as number) + (1 - beta2) * g * g;
      firstMoment[i] = m;
      secondMoment[i] = v;
      const update = m / correction1 / (Math.sqrt(v / correction2) + epsilon);
      parameters[i] = (parameters[i] as number) * shrink - rate * update;
    }
  }
  return { learningRate: rate, gradientNorm: norm, clipped };
}
