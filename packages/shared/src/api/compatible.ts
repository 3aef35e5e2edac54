/** Whether model, dataset and recipe of a run fit each other: asked by the dashboard's form and by the server alike. */
import type { Gpt2Config } from '../model/gpt2-config.ts';
import type { FieldError } from '../problem.ts';
import { windowsIn } from '../sampling/sampler.ts';
import type { Recipe } from './recipe.ts';
import type { Dataset } from './resources.ts';

/** What the check needs of a dataset. */
export type TextMeasures = Pick<Dataset, 'vocabularySize' | 'trainTokens' | 'validationTokens'>;

/** Everything that does not fit, by the field of the run that it concerns; empty when the run can work. */
export function incompatibilities(config: Gpt2Config, dataset: TextMeasures, recipe: Recipe): FieldError[] {
  const errors: FieldError[] = [];
  const add = (path: string, message: string): void => void errors.push({ path, message });
  const windows = (tokens: number): number => windowsIn({ start: 0, end: tokens }, recipe.blockSize);
  if (recipe.blockSize > config.positions) {
    add('recipe.blockSize', `${recipe.blockSize} tokens, but the model has ${config.positions} positions`);
  }
  if (config.vocabSize < dataset.vocabularySize) {
    add(
      'modelId',
      `the model's vocab_size is ${config.vocabSize}, but the dataset's tokenizer has ${dataset.vocabularySize} tokens`,
    );
  }
  if (recipe.warmupSteps > recipe.maxSteps) {
    add('recipe.warmupSteps', `more than maxSteps (${recipe.maxSteps})`);
  }
  if (windows(dataset.trainTokens) === 0) {
    add(
      'recipe.blockSize',
      `the dataset's training part has ${dataset.trainTokens} tokens; one sample needs ${recipe.blockSize + 1}. Upload a longer text or choose a smaller blockSize`,
    );
  }
  if (recipe.evaluateEvery > 0 && windows(dataset.validationTokens) === 0) {
    add(
      'recipe.evaluateEvery',
      `the dataset's validation part has ${dataset.validationTokens} tokens; one sample needs ${recipe.blockSize + 1}. Upload a longer text, choose a smaller blockSize, or set evaluateEvery to 0`,
    );
  }
  return errors;
}
