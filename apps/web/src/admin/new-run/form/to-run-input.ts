/** From the form to the request, or to what is wrong with it. */
import {
  fieldErrors,
  incompatibilities,
  recipeSchema,
  runInputSchema,
  type Dataset,
  type FieldError,
  type Recipe,
} from '@tabweave/shared';
import type { z } from 'zod';
import type { ResolvedModel } from './resolve-model.ts';
import { defaultRecipe, type NumberField, type RunForm } from './run-form.ts';

type RunInput = z.output<typeof runInputSchema>;

export interface CheckedForm {
  /** Without the id of a model that is still to be made; null when something is wrong. */
  input: Omit<RunInput, 'modelId'> | null;
  /** For estimates, which stand while a part is wrong. */
  recipe: Recipe;
  errors: FieldError[];
}

/** Stands in for the id of a model that does not exist yet, so that the whole request can be checked. */
const futureModel = 'future';

export function suggestedName(model: ResolvedModel, dataset: Dataset | null): string {
  return dataset === null ? model.name : `${model.name} on ${dataset.name}`.slice(0, 100);
}

export function toRunInput(form: RunForm, dataset: Dataset | null, model: ResolvedModel): CheckedForm {
  const { recipe, errors: recipeErrors } = readRecipe(form, model.config?.positions ?? 128);
  const candidate = {
    name: form.name ?? suggestedName(model, dataset),
    description: form.description,
    datasetId: dataset?.id,
    modelId: model.modelId ?? futureModel,
    recipe,
    strategy: form.strategy,
  };
  const errors: FieldError[] = [...model.errors, ...recipeErrors];
  const parsed = runInputSchema.safeParse(candidate);
  if (!parsed.success) errors.push(...fieldErrors(parsed.error).filter(({ path }) => path !== 'datasetId'));
  if (dataset === null) errors.push({ path: 'datasetId', message: 'Choose a dataset or upload a text.' });
  if (dataset !== null && model.config !== null) {
    errors.push(...incompatibilities(model.config, dataset, recipe));
  }
  if (!parsed.success || errors.length > 0) return { input: null, recipe, errors };
  const { modelId: _future, ...input } = parsed.data;
  return { input, recipe, errors };
}

/** The recipe as typed, a wrong field at its default, so that one mistake does not hide the others. */
function readRecipe(form: RunForm, positions: number): { recipe: Recipe; errors: FieldError[] } {
  const defaults = defaultRecipe(positions);
  const recipe: Recipe = { ...defaults, schedule: form.schedule };
  const errors: FieldError[] = [];
  for (const [name, text] of Object.entries(form.numbers)) {
    const field = name as NumberField;
    const value = text.trim() === '' ? Number.NaN : Number(text);
    const problem = Number.isNaN(value)
      ? 'Enter a number.'
      : recipeSchema.shape[field].safeParse(value).error?.issues[0]?.message;
    if (problem === undefined) recipe[field] = value;
    else errors.push({ path: `recipe.${field}`, message: problem });
  }
  return { recipe, errors };
}

/** The first message for a field; the server may name it with or without the prefix of its part. */
export function messageAt(errors: readonly FieldError[], path: string): string | null {
  return errors.find((error) => error.path === path)?.message ?? null;
}
