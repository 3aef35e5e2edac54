import type { FieldError, Recipe } from '@tabweave/shared';
import { useState } from 'react';
import { Button, Select, TextField } from '../../../ui/index.ts';
import { shownNumber, type NumberField, type RunForm } from '../form/run-form.ts';
import { messageAt } from '../form/to-run-input.ts';
import { Step } from '../step.tsx';
import { furtherFields, mainFields, type RecipeFieldText } from './recipe-fields.ts';
import { StrategyFields } from './strategy-fields.tsx';

export interface RecipeStepProps {
  form: RunForm;
  defaults: Recipe;
  errors: readonly FieldError[];
  /** Null while no model is known. */
  parameters: number | null;
  onChange: (change: Partial<RunForm>) => void;
}

export function RecipeStep({ form, defaults, errors, parameters, onChange }: RecipeStepProps) {
  const [opened, setOpened] = useState(false);
  // An error must not hide behind a closed door.
  const further = opened || furtherFields.some(({ field }) => messageAt(errors, `recipe.${field}`) !== null);
  const setNumber = (field: NumberField, text: string): void =>
    onChange({ numbers: { ...form.numbers, [field]: text } });
  const toField = ({ field, label, hint }: RecipeFieldText) => (
    <TextField
      key={field}
      label={label}
      hint={hint}
      inputMode="decimal"
      autoComplete="off"
      value={shownNumber(form, field, defaults)}
      error={messageAt(errors, `recipe.${field}`)}
      onChange={(event) => setNumber(field, event.target.value)}
    />
  );
  const grid = 'grid grid-cols-1 gap-4 min-[440px]:grid-cols-2 lg:grid-cols-3';
  return (
    <Step number={3} title="Recipe" description="How it is trained, and how the work is shared out.">
      <div className={grid}>
        {mainFields.map(toField)}
        <Select
          label="Schedule"
          value={form.schedule}
          options={[
            { value: 'cosine', label: 'Cosine' },
            { value: 'constant', label: 'Constant' },
          ]}
          hint={form.schedule === 'cosine' ? 'Falls smoothly to the final rate.' : 'Stays at the highest.'}
          error={messageAt(errors, 'recipe.schedule')}
          onChange={(schedule) => onChange({ schedule })}
        />
      </div>
      <Button
        tone="ghost"
        size="small"
        className="mt-3 -ml-2.5 text-accent"
        aria-expanded={further}
        onClick={() => setOpened(!further)}
      >
        {further ? 'Fewer settings' : 'More settings: optimizer, evaluation, seed'}
      </Button>
      {further && <div className={`${grid} mt-2`}>{furtherFields.map(toField)}</div>}
      <hr className="my-5 border-line" />
      <StrategyFields
        strategy={form.strategy}
        parameters={parameters}
        errors={errors}
        onChange={(strategy) => onChange({ strategy })}
      />
    </Step>
  );
}
