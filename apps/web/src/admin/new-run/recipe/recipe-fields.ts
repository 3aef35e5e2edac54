import type { NumberField } from '../form/run-form.ts';

export interface RecipeFieldText {
  field: NumberField;
  label: string;
  hint: string;
}

/** What most runs choose. */
export const mainFields: readonly RecipeFieldText[] = [
  { field: 'maxSteps', label: 'Steps', hint: 'Optimizer steps of the whole run.' },
  {
    field: 'globalBatch',
    label: 'Global batch',
    hint: 'Samples of one step, shared out among the volunteers.',
  },
  { field: 'blockSize', label: 'Tokens per sample', hint: 'At most the model’s positions.' },
  { field: 'learningRate', label: 'Learning rate', hint: 'The highest, after warm-up.' },
  { field: 'warmupSteps', label: 'Warm-up steps', hint: 'The rate grows from 0 over these.' },
];

/** What has good defaults. */
export const furtherFields: readonly RecipeFieldText[] = [
  {
    field: 'minimumLearningRateRatio',
    label: 'Final rate ratio',
    hint: 'Where the cosine ends, as a share of the highest.',
  },
  { field: 'weightDecay', label: 'Weight decay', hint: 'Decoupled (AdamW), on matrices only.' },
  { field: 'gradientClip', label: 'Gradient clipping', hint: 'Largest global norm; 0 switches it off.' },
  { field: 'beta1', label: 'Beta 1', hint: 'Decay of the mean of gradients.' },
  { field: 'beta2', label: 'Beta 2', hint: 'Decay of the mean of their squares.' },
  { field: 'epsilon', label: 'Epsilon', hint: 'Keeps the division finite.' },
  { field: 'evaluateEvery', label: 'Evaluate every', hint: 'Steps between validation losses; 0 for none.' },
  { field: 'evaluationSamples', label: 'Evaluation samples', hint: 'Samples of one evaluation.' },
  { field: 'seed', label: 'Seed', hint: 'Fixes initial parameters and sampling.' },
];
