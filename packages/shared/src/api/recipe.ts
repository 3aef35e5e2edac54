/** How a run trains (recipe) and how its work is shared out (strategy). */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { encodingSchema, parameterEncodingSchema } from '../tensor/codec.ts';

const count = z.number().int().positive();

export const recipeSchema = z
  .strictObject({
    /** Tokens of one sample; at most the model's positions. */
    blockSize: count.max(65_536),
    /** Samples of one optimizer step. */
    globalBatch: count.max(limits.globalBatch).default(32),
    /** Optimizer steps of the whole run. */
    maxSteps: count.max(limits.maxSteps).default(1000),
    learningRate: z.number().positive().max(10).default(1e-3),
    /** Linear warm-up from zero. */
    warmupSteps: z.number().int().nonnegative().max(limits.maxSteps).default(0),
    schedule: z.enum(['cosine', 'constant']).default('cosine'),
    /** Where the cosine ends, as a share of `learningRate`. */
    minimumLearningRateRatio: z.number().min(0).max(1).default(0.1),
    beta1: z.number().min(0).lt(1).default(0.9),
    beta2: z.number().min(0).lt(1).default(0.95),
    epsilon: z.number().positive().max(1).default(1e-8),
    /** Decoupled, on matrices only (AdamW, arXiv 1711.05101). */
    weightDecay: z.number().min(0).max(10).default(0.1),
    /** Largest global gradient norm; 0 switches clipping off. */
    gradientClip: z.number().min(0).max(1e6).default(1),
    /** Steps between evaluations on the validation split; 0 for none. */
    evaluateEvery: z.number().int().nonnegative().max(limits.maxSteps).default(25),
    /** Samples of one evaluation. */
    evaluationSamples: count.max(65_536).default(32),
    /** Seeds initialisation and sampling. */
    seed: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(1),
  })
  .meta({ id: 'Recipe' });
export type Recipe = z.infer<typeof recipeSchema>;
export type RecipeInput = z.input<typeof recipeSchema>;

export const strategySchema = z
  .strictObject({
    /** How micro-batch sizes follow the workers: by measured step time, or all alike. */
    batchPolicy: z.enum(['proportional', 'equal']).default('proportional'),
    parameterEncoding: parameterEncodingSchema.default('float32'),
    gradientEncoding: encodingSchema.default('float32'),
  })
  .meta({ id: 'Strategy' });
export type Strategy = z.infer<typeof strategySchema>;
