/** What stands in the new-run page: as typed, before it is checked. */
import { recipeSchema, strategySchema, type Recipe, type Strategy } from '@tabweave/shared';

/** Fields of the recipe that are typed as numbers. */
export type NumberField = Exclude<keyof Recipe, 'schedule'>;

export type ModelChoice =
  | { kind: 'preset'; presetId: string }
  | { kind: 'config'; text: string }
  | { kind: 'saved'; modelId: string };

export interface RunForm {
  /** Null while the suggestion stands. */
  name: string | null;
  description: string;
  datasetId: string | null;
  model: ModelChoice;
  /** As typed; a field that was not touched is not here and takes its default. */
  numbers: Partial<Record<NumberField, string>>;
  schedule: Recipe['schedule'];
  strategy: Strategy;
}

export const initialForm: RunForm = {
  name: null,
  description: '',
  datasetId: null,
  model: { kind: 'preset', presetId: 'micro' },
  numbers: {},
  schedule: 'cosine',
  strategy: strategySchema.parse({}),
};

/** The recipe's defaults; samples are as long as the model allows. */
export function defaultRecipe(positions: number): Recipe {
  return recipeSchema.parse({ blockSize: positions });
}

/** What a number field shows. */
export function shownNumber(form: RunForm, field: NumberField, defaults: Recipe): string {
  return form.numbers[field] ?? String(defaults[field]);
}
