import { modelPresets, type FieldError, type Model } from '@tabweave/shared';
import { Alert, Select, TextAreaField } from '../../../ui/index.ts';
import type { ResolvedModel } from '../form/resolve-model.ts';
import type { ModelChoice } from '../form/run-form.ts';
import { Step } from '../step.tsx';
import { ChoiceCard } from './choice-card.tsx';

export interface ModelStepProps {
  choice: ModelChoice;
  resolved: ResolvedModel;
  saved: readonly Model[];
  /** Of the dataset, shown as what a config without `vocab_size` gets. */
  vocabularySize: number | null;
  errors: readonly FieldError[];
  onChange: (choice: ModelChoice) => void;
}

export function ModelStep({ choice, resolved, saved, vocabularySize, errors, onChange }: ModelStepProps) {
  return (
    <Step number={2} title="Model" description="A GPT-2 style transformer, from scratch.">
      <fieldset>
        <legend className="sr-only">Model</legend>
        <div className="grid gap-2 sm:grid-cols-2">
          {modelPresets.map(({ id, name, description }) => (
            <ChoiceCard
              key={id}
              group="model"
              title={name}
              description={description}
              checked={choice.kind === 'preset' && choice.presetId === id}
              onChoose={() => onChange({ kind: 'preset', presetId: id })}
            />
          ))}
          {saved.length > 0 && (
            <ChoiceCard
              group="model"
              title="A saved model"
              description="The same shape as in an earlier run"
              checked={choice.kind === 'saved'}
              onChoose={() => onChange({ kind: 'saved', modelId: saved[0]?.id ?? '' })}
            />
          )}
          <ChoiceCard
            group="model"
            title="Hugging Face config.json"
            description="Paste one with model_type gpt2"
            checked={choice.kind === 'config'}
            onChoose={() => onChange({ kind: 'config', text: '' })}
          />
        </div>
      </fieldset>
      {choice.kind === 'saved' && (
        <Select
          className="mt-4"
          label="Saved model"
          value={choice.modelId}
          options={saved.map(({ id, name, config }) => ({
            value: id,
            label: `${name} (${config.layers} layers, width ${config.width}, vocabulary ${config.vocabSize})`,
          }))}
          onChange={(modelId) => onChange({ kind: 'saved', modelId })}
        />
      )}
      {choice.kind === 'config' && (
        <TextAreaField
          className="mt-4 [&_textarea]:font-mono [&_textarea]:text-sm"
          label="config.json"
          rows={9}
          spellCheck={false}
          value={choice.text}
          placeholder={
            '{\n  "model_type": "gpt2",\n  "n_layer": 4,\n  "n_head": 4,\n  "n_embd": 128,\n  "n_positions": 128\n}'
          }
          hint={
            vocabularySize === null
              ? 'vocab_size may be left out: it follows the dataset.'
              : `vocab_size may be left out: it follows the dataset (${vocabularySize}).`
          }
          error={choice.text.trim() === '' ? null : words(errors)}
          onChange={(event) => onChange({ kind: 'config', text: event.target.value })}
        />
      )}
      {choice.kind !== 'config' && errors.length > 0 && (
        <Alert tone="bad" className="mt-4" title="This model does not fit">
          {words(errors)}
        </Alert>
      )}
      {resolved.warnings.map((warning) => (
        <Alert key={warning} tone="warn" className="mt-4">
          {warning}
        </Alert>
      ))}
    </Step>
  );
}

function words(errors: readonly FieldError[]): string | null {
  const named = errors.map(({ path, message }) =>
    path === '' || path === 'config' || path === 'modelId' || message.startsWith(path)
      ? message
      : `${path.replace(/^config\./, '')}: ${message}`,
  );
  return named.length === 0 ? null : named.join('; ');
}
