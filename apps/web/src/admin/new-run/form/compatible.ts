/** Whether model, dataset and recipe fit each other: what the server would refuse, said before it is asked. */
import {
  splitTokens,
  windowsIn,
  type Dataset,
  type FieldError,
  type Gpt2Config,
  type Recipe,
} from '@tabweave/shared';

type Text = Pick<Dataset, 'vocabularySize' | 'trainTokens' | 'validationTokens'>;

/** Problems by the paths and in the words that the server uses (INCOMPATIBLE_RUN). */
export function incompatibilities(config: Gpt2Config, dataset: Text, recipe: Recipe): FieldError[] {
  const errors: FieldError[] = [];
  const add = (path: string, message: string): void => void errors.push({ path, message });
  const windows = (tokens: number): number => windowsIn(splitTokens(tokens, 0).train, recipe.blockSize);
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
