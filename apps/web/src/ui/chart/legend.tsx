import { toneOf, type ChartSeries } from './series.ts';

export interface LegendProps {
  series: readonly ChartSeries[];
  x: readonly number[];
  xLabel: string;
  /** The point to read out; null for the latest. */
  index: number | null;
  formatX: (x: number) => string;
  formatY: (y: number) => string;
}

/** Colour, name and value of each line. Hidden from screen readers, which get the summary and the table. */
export function Legend({ series, x, xLabel, index, formatX, formatY }: LegendProps) {
  const at = index ?? x.length - 1;
  return (
    <div aria-hidden className="tabular flex min-h-6 flex-wrap items-center gap-x-4 text-sm">
      {series.map((one, position) => {
        const value =
          index === null || one.sparse === true ? lastUpTo(one.values, at) : (one.values[at] ?? null);
        if (one.faint === true) return null;
        return (
          <span key={one.label} className="inline-flex items-center gap-1.5">
            <span
              className="h-0.75 w-3.5 rounded-full"
              style={{ background: `var(--chart-${toneOf(one, position)})` }}
            />
            <span className="text-muted">{one.label}</span>
            <span className="font-medium">{value === null ? '–' : formatY(value)}</span>
          </span>
        );
      })}
      {index !== null && x[at] !== undefined && (
        <span className="ml-auto text-muted">
          {xLabel} {formatX(x[at])}
        </span>
      )}
    </div>
  );
}

/** The value at an index, or the last one before it. */
function lastUpTo(values: readonly (number | null)[], index: number): number | null {
  for (let i = Math.min(index, values.length - 1); i >= 0; i--) {
    const value = values[i];
    if (value !== undefined && value !== null) return value;
  }
  return null;
}
