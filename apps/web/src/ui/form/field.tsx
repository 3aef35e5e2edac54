import { CircleAlert } from 'lucide-react';
import { useId, type ReactNode } from 'react';

/** What `Field` hands to its control: spread it on the input. */
export interface FieldControl {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

export interface FieldProps {
  label: ReactNode;
  hint?: ReactNode;
  /** What is wrong and how to mend it; null when nothing is. */
  error?: string | null | undefined;
  className?: string;
  children: (control: FieldControl) => ReactNode;
}

/** A labelled control with its hint and its error, tied together for assistive technology. */
export function Field({ label, hint, error, className, children }: FieldProps) {
  const id = useId();
  const wrong = error !== undefined && error !== null && error !== '';
  const describedBy = [hint !== undefined && `${id}-hint`, wrong && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-sm font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': describedBy || undefined, 'aria-invalid': wrong || undefined })}
      {wrong && (
        <p id={`${id}-error`} className="mt-1 flex gap-1.5 text-sm text-bad">
          <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
          <span className="min-w-0">{error}</span>
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}
