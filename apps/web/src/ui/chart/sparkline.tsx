import { spreadIndices } from './series.ts';

export interface SparklineProps {
  /** What it shows, in words: its accessible name. */
  label: string;
  values: readonly number[];
  /** In CSS pixels. */
  width?: number;
  height?: number;
}

/** A small line without axes. */
export function Sparkline({ label, values, width = 120, height = 32 }: SparklineProps) {
  const shown = spreadIndices(values.length, width).flatMap((index) => {
    const value = values[index];
    return value !== undefined && Number.isFinite(value) ? [value] : [];
  });
  const low = Math.min(...shown);
  const spread = Math.max(...shown) - low || 1;
  const points = shown
    .map((value, index) => {
      const x = (index / Math.max(1, shown.length - 1)) * width;
      const y = height - 2 - ((value - low) / spread) * (height - 4);
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    })
    .join(' ');
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
      {shown.length > 1 && (
        <polyline
          points={points}
          fill="none"
          stroke="var(--chart-1)"
          strokeWidth={1.6}
          strokeLinejoin="round"
        />
      )}
    </svg>
  );
}
