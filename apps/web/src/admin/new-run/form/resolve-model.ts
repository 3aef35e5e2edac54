/** From what was chosen or pasted to a model that can be reckoned with. */
import {
  ProblemError,
  countParameters,
  limits,
  modelPresets,
  parseGpt2Config,
  type FieldError,
  type Gpt2Config,
  type Model,
} from '@tabweave/shared';
import type { ModelChoice } from './run-form.ts';

export interface ResolvedModel {
  name: string;
  /** Null while it cannot be told. */
  config: Gpt2Config | null;
  /** What is sent to make the model; null for one that exists. */
  json: unknown;
  /** Of an existing model that is just this one. */
  modelId: string | null;
  parameters: number;
  warnings: readonly string[];
  errors: readonly FieldError[];
}

/**
 * @param vocabularySize of the dataset, taken where the description names no `vocab_size`; null without a dataset.
 * @param saved models on the server: one that equals the chosen shape is used again.
 */
export function resolveModel(
  choice: ModelChoice,
  vocabularySize: number | null,
  saved: readonly Model[],
): ResolvedModel {
  if (choice.kind === 'saved') {
    const model = saved.find(({ id }) => id === choice.modelId);
    return model
      ? { ...known(model), name: model.name }
      : failed('Model', [{ path: 'modelId', message: 'Choose a model.' }]);
  }
  if (choice.kind === 'config' && choice.text.trim() === '') {
    return failed('Model', [{ path: 'config', message: 'Paste the contents of a config.json.' }]);
  }
  let value: Record<string, unknown>;
  let name: string;
  if (choice.kind === 'preset') {
    const preset = modelPresets.find(({ id }) => id === choice.presetId);
    value = { ...preset?.config };
    name = preset?.name ?? choice.presetId;
  } else {
    try {
      value = JSON.parse(choice.text) as Record<string, unknown>;
    } catch (error) {
      return failed('Model', [{ path: 'config', message: `This is not JSON: ${(error as Error).message}.` }]);
    }
    const path = value?.['_name_or_path'];
    name = typeof path === 'string' && path !== '' ? path.slice(0, limits.nameLength) : 'Custom GPT-2';
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const json =
    isObject && value['vocab_size'] === undefined && vocabularySize !== null
      ? { ...value, vocab_size: vocabularySize }
      : value;
  // A preset without a dataset has no vocabulary yet: nothing is wrong, there is just nothing to reckon.
  if (choice.kind === 'preset' && vocabularySize === null) return failed(name, []);
  return fromJson(name, json, saved);
}

function fromJson(name: string, json: unknown, saved: readonly Model[]): ResolvedModel {
  try {
    const { config, warnings } = parseGpt2Config(json);
    const parameters = countParameters(config);
    const errors: FieldError[] = [];
    if (parameters > limits.modelParameters) {
      const message = `The model has ${parameters.toLocaleString('en')} parameters; this server takes at most ${limits.modelParameters.toLocaleString('en')}.`;
      errors.push({ path: 'config', message });
    }
    const twin = saved.find((model) => sameConfig(model.config, config) && model.name === name);
    return { name, config, json, modelId: twin?.id ?? null, parameters, warnings, errors };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return failed(name, error.errors ?? [{ path: 'config', message: error.message }]);
  }
}

function known({ id, name, config, parameters, warnings }: Model): ResolvedModel {
  return { name, config, json: null, modelId: id, parameters, warnings, errors: [] };
}

function failed(name: string, errors: readonly FieldError[]): ResolvedModel {
  return { name, config: null, json: null, modelId: null, parameters: 0, warnings: [], errors };
}

function sameConfig(a: Gpt2Config, b: Gpt2Config): boolean {
  return (Object.keys(a) as (keyof Gpt2Config)[]).every((key) => a[key] === b[key]);
}
