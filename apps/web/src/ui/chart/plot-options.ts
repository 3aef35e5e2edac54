/** uPlot's options for one of our charts; colours are read from the theme at each drawing. */
import uPlot from 'uplot';
import { logTicks, toneOf, type ChartSeries } from './series.ts';

export interface PlotSettings {
  series: readonly Pick<ChartSeries, 'label' | 'tone' | 'faint' | 'sparse'>[];
  logScale: boolean;
  /** x is milliseconds: the axis is cut at whole seconds, minutes and hours. */
  timeAxis: boolean;
  formatX: (x: number) => string;
  /** Of the axis. */
  formatTick: (y: number) => string;
  onCursor: (index: number | null) => void;
  onZoom: () => void;
}

/** The present value of a theme token such as `--muted`. */
export function token(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const font = '12px ui-sans-serif, system-ui, sans-serif';

const [second, minute, hour] = [1000, 60_000, 3_600_000];
const timeSteps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12, 24, 48, 120, 240].map((count) => count * hour),
];

export function plotOptions(settings: PlotSettings, width: number, height: number): uPlot.Options {
  const { series, logScale, timeAxis, formatX, formatTick } = settings;
  const axis = {
    stroke: () => token('--muted'),
    grid: { stroke: () => token('--line'), width: 1 },
    ticks: { show: false },
    font,
  };
  return {
    width,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { points: { size: 7 }, drag: { x: true, y: false } },
    scales: {
      x: { time: false },
      y: logScale
        ? { distr: 3, range: (_u, low, high) => logRange(low, high) }
        : { range: (_u, low, high) => linearRange(low, high) },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: timeAxis ? 72 : 56,
        values: (_u, splits) => splits.map(formatX),
        ...(timeAxis ? { incrs: timeSteps } : {}),
      },
      {
        ...axis,
        size: 56,
        space: 32,
        values: (_u, splits) => splits.map((value) => (value === null ? null : formatTick(value))),
        ...(logScale
          ? { splits: (_u, _axis, low, high) => logTicks(low, high), filter: (_u, splits) => splits }
          : {}),
      },
    ],
    series: [
      {},
      ...series.map(
        (one, index): uPlot.Series => ({
          label: one.label,
          stroke: () => token(`--chart-${toneOf(one, index)}`) + (one.faint === true ? '55' : ''),
          width: one.faint === true ? 1 : 1.8,
          spanGaps: one.sparse === true,
          points: { show: one.sparse === true, size: 5 },
        }),
      ),
    ],
    hooks: {
      setCursor: [(u) => settings.onCursor(u.cursor.idx ?? null)],
      setSelect: [(u) => u.select.width > 0 && settings.onZoom()],
    },
  };
}

/** Values that differ in their last digits only are drawn as the level line that they are. */
function linearRange(low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low > 1e-4 * size) return uPlot.rangeNum(low, high, 0.1, true);
  return size === 0 ? [-1, 1] : [low - size / 2, high + size / 2];
}

function logRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !(low > 0)) return [0.1, 1];
  return low === high ? [low / 1.2, high * 1.2] : [low / 1.04, high * 1.04];
}
