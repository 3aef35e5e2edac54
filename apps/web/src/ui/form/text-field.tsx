import type { ComponentProps } from 'react';
import { cx } from '../cx.ts';
import { controlStyle } from './control-style.ts';
import { Field, type FieldProps } from './field.tsx';

type FieldParts = Pick<FieldProps, 'label' | 'hint' | 'error'>;
export interface TextFieldProps extends FieldParts, Omit<ComponentProps<'input'>, 'id'> {}
export interface TextAreaFieldProps extends FieldParts, Omit<ComponentProps<'textarea'>, 'id'> {}

/** `Field` around an input of any text-like type; `className` goes to the field. */
export function TextField({ label, hint, error, className, ...rest }: TextFieldProps) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(control) => <input {...rest} {...control} className={cx(controlStyle, 'tabular')} />}
    </Field>
  );
}

export function TextAreaField({ label, hint, error, className, ...rest }: TextAreaFieldProps) {
  return (
    <Field {...{ label, hint, error, className }}>
      {(control) => <textarea rows={3} {...rest} {...control} className={controlStyle} />}
    </Field>
  );
}
