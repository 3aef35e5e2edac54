export interface ProgressProps {
  /** Accessible name. */
  label: string;
  value: number;
  max: number;
  /** The value in words, for a screen reader; the percentage otherwise. */
  valueText?: string;
}

export function Progress({ label, value, max, valueText }: ProgressProps) {
  const share = max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={valueText ?? `${Math.round(100 * share)} %`}
      className="h-2 w-full overflow-hidden rounded-full bg-sunken ring-1 ring-control/50"
    >
      <div className="h-full rounded-full bg-accent" style={{ width: `${100 * share}%` }} />
    </div>
  );
}
