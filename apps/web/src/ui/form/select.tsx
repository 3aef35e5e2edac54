import type { ComponentProps } from 'react';
import { controlStyle } from './control-style.ts';
import { Field, type FieldProps } from './field.tsx';

export interface SelectOption<V extends string> {
  value: V;
  label: string;
  disabled?: boolean;
}

export interface SelectProps<V extends string>
  extends Pick<FieldProps, 'label' | 'hint' | 'error'>,
    Omit<ComponentProps<'select'>, 'id' | 'value' | 'onChange'> {
  value: V;
  options: readonly SelectOption<V>[];
  onChange: (value: V) => void;
}

/** A native select in a `Field`: it works the same with thumb, keyboard and screen reader. */
export function Select<V extends string>({
  label,
  hint,
  error,
  className,
  value,
  options,
  onChange,
  ...rest
}: SelectProps<V>) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(control) => (
        <select
          {...rest}
          {...control}
          className={controlStyle}
          value={value}
          onChange={(event) => onChange(event.target.value as V)}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
