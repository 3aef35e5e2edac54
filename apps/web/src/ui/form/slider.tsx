import { useId, useState, type ReactNode } from 'react';
import { controlStyle } from './control-style.ts';
import { cx } from '../cx.ts';

export interface SliderProps {
  label: ReactNode;
  hint?: ReactNode;
  value: number;
  min: number;
  max: number;
  step?: number;
  /** Shown after the number input: "%", "MB". */
  unit?: string;
  disabled?: boolean;
  onChange: (value: number) => void;
}

/** A range with a number input beside it (WCAG 2.5.7: dragging is never the only way). */
export function Slider({ label, hint, value, min, max, step = 1, unit, disabled, onChange }: SliderProps) {
  const id = useId();
  // A number being typed may pass through values outside the range: it is kept as text until it fits.
  const [draft, setDraft] = useState<string | null>(null);
  const common = { min, max, step, disabled };
  const describedBy = hint === undefined ? undefined : `${id}-hint`;
  const type = (text: string): void => {
    const next = Number(text);
    setDraft(text);
    if (text !== '' && next >= min && next <= max) onChange(next);
  };
  const settle = (): void => {
    if (draft !== null && draft !== '') onChange(Math.min(max, Math.max(min, Number(draft))));
    setDraft(null);
  };
  return (
    <div>
      <div className="flex items-center justify-between gap-3">
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        <span className="flex items-center gap-1 text-sm">
          <input
            {...common}
            type="number"
            value={draft ?? value}
            aria-labelledby={`${id}-number`}
            className={cx(controlStyle, 'tabular min-h-8! w-20! py-0.5! text-right')}
            onChange={(event) => type(event.target.value)}
            onBlur={settle}
          />
          <span id={`${id}-number`} className="sr-only">
            {label} as a number
          </span>
          {unit !== undefined && <span className="text-muted">{unit}</span>}
        </span>
      </div>
      <input
        {...common}
        id={id}
        type="range"
        value={value}
        aria-describedby={describedBy}
        className="h-7 w-full accent-accent"
        onChange={(event) => onChange(Number(event.target.value))}
      />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}
