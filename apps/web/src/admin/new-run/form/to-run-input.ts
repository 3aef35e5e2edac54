/** From the form to the request, or to what is wrong with it. */
import { fieldErrors, runInputSchema, type Dataset, type FieldError, type Recipe } from '@tabweave/shared';
import type { z } from 'zod';
import { incompatibilities } from './compatible.ts';
import type { ResolvedModel } from './resolve-model.ts';
import { defaultRecipe, type RunForm } from './run-form.ts';

type RunInput = z.output<typeof runInputSchema>;

export interface CheckedForm {
  /** Without the id of a model that is still to be made; null when something is wrong. */
  input: Omit<RunInput, 'modelId'> | null;
  /** Parsed on its own, so that estimates stand while another part is wrong. */
  recipe: Recipe | null;
  errors: FieldError[];
}

/** Stands in for the id of a model that does not exist yet, so that the whole request can be checked. */
const futureModel = 'future';

export function suggestedName(model: ResolvedModel, dataset: Dataset | null): string {
  return dataset === null ? model.name : `${model.name} on ${dataset.name}`.slice(0, 100);
}

export function toRunInput(form: RunForm, dataset: Dataset | null, model: ResolvedModel): CheckedForm {
  const positions = model.config?.positions ?? 128;
  const typed = Object.entries(form.numbers).map(([field, text]) => [field, toNumber(text)]);
  const candidate = {
    name: form.name ?? suggestedName(model, dataset),
    description: form.description,
    datasetId: dataset?.id,
    modelId: model.modelId ?? futureModel,
    recipe: { ...defaultRecipe(positions), ...Object.fromEntries(typed), schedule: form.schedule },
    strategy: form.strategy,
  };
  const errors: FieldError[] = [...model.errors];
  const parsed = runInputSchema.safeParse(candidate);
  if (!parsed.success) errors.push(...fieldErrors(parsed.error).filter(({ path }) => path !== 'datasetId'));
  if (dataset === null) errors.push({ path: 'datasetId', message: 'Choose a dataset or upload a text.' });
  const recipe = runInputSchema.shape.recipe.safeParse(candidate.recipe).data ?? null;
  if (recipe !== null && dataset !== null && model.config !== null) {
    errors.push(...incompatibilities(model.config, dataset, recipe));
  }
  if (!parsed.success || errors.length > 0) return { input: null, recipe, errors };
  const { modelId: _future, ...input } = parsed.data;
  return { input, recipe, errors };
}

/** An empty field is no number at all, not 0. */
function toNumber(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

/** The first message for a field; the server may name it with or without the prefix of its part. */
export function messageAt(errors: readonly FieldError[], path: string): string | null {
  return errors.find((error) => error.path === path)?.message ?? null;
}
