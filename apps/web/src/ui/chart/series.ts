/** What a chart draws, and how it is put in words. */

export type ChartTone = 1 | 2 | 3 | 4;

export interface ChartSeries {
  label: string;
  /** One value per x; null where there is none. */
  values: readonly (number | null)[];
  /** Which of the theme's chart colours; by position where none is given. */
  tone?: ChartTone;
  /** The raw line behind a smoothed one. */
  faint?: boolean;
  /** Few, separate measurements: joined over gaps and marked with points. */
  sparse?: boolean;
}

/** The colour of the series at `index`. */
export function toneOf(series: Pick<ChartSeries, 'tone'>, index: number): ChartTone {
  return series.tone ?? (((index % 4) + 1) as ChartTone);
}

/** Latest, first, lowest and highest value of a series in one sentence: what the picture shows at a glance. */
export function describeSeries(
  series: ChartSeries,
  x: readonly number[],
  formatX: (x: number) => string,
  formatY: (y: number) => string,
): string {
  let first: number | null = null;
  let last: { value: number; at: number } | null = null;
  let low = Infinity;
  let high = -Infinity;
  series.values.forEach((value, index) => {
    if (value === null || !Number.isFinite(value)) return;
    first ??= value;
    last = { value, at: x[index] ?? 0 };
    low = Math.min(low, value);
    high = Math.max(high, value);
  });
  const end = last as { value: number; at: number } | null;
  if (end === null || first === null) return `${series.label}: no values yet.`;
  return `${series.label}: ${formatY(end.value)} at ${formatX(end.at)}; first ${formatY(first)}, lowest ${formatY(low)}, highest ${formatY(high)}.`;
}

/** At most `count` indices spread evenly over [0, length), the first and the last among them. */
export function spreadIndices(length: number, count: number): number[] {
  if (length <= count) return Array.from({ length }, (_, index) => index);
  return Array.from({ length: count }, (_, index) => Math.round((index * (length - 1)) / (count - 1)));
}

/** Round values for a logarithmic axis: 1, 2 and 5 in each decade, or finer steps where the range is narrow. */
export function logTicks(minimum: number, maximum: number): number[] {
  if (!(minimum > 0) || !(maximum > minimum)) return [];
  const within = (value: number): boolean => value >= minimum && value <= maximum;
  const decades: number[] = [];
  for (let power = Math.floor(Math.log10(minimum)); power <= Math.ceil(Math.log10(maximum)); power++) {
    for (const digit of [1, 2, 5]) decades.push(digit * 10 ** power);
  }
  const ticks = decades.filter(within);
  if (ticks.length >= 3) return ticks;
  const rough = (maximum - minimum) / 4;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((digit) => digit * magnitude).find((size) => size >= rough) ?? rough;
  const from = Math.ceil(minimum / step);
  const fine: number[] = [];
  for (let index = from; index * step <= maximum; index++) fine.push(Number((index * step).toPrecision(6)));
  return fine;
}
