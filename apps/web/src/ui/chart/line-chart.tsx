import { Maximize2, Table2 } from 'lucide-react';
import { useId, useMemo, useState, type ReactNode } from 'react';
import type uPlot from 'uplot';
import { IconButton } from '../form/icon-button.tsx';
import { ChartTable } from './chart-table.tsx';
import { Legend } from './legend.tsx';
import { describeSeries, type ChartSeries } from './series.ts';
import { usePlot } from './use-plot.ts';

export interface LineChartProps {
  title: string;
  /** Name of the x axis, for the table's heading: "Step", "Time". */
  xLabel: string;
  /** Increasing. */
  x: readonly number[];
  series: readonly ChartSeries[];
  formatX?: (x: number) => string;
  formatY?: (y: number) => string;
  /** Of the vertical axis; `formatY` where none is given. */
  formatTick?: (y: number) => string;
  logScale?: boolean;
  timeAxis?: boolean;
  /** Of the drawing, in CSS pixels. */
  height?: number;
  /** Settings of this chart, at the right of its title. */
  controls?: ReactNode;
  /** Level of the title among the page's headings. */
  level?: 2 | 3;
  /** Shown instead of an empty drawing. */
  empty?: ReactNode;
}

const plain = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 4 });

/** A chart with a legend that reads out values, a summary in words, and its data as a table. Drag to zoom. */
export function LineChart({
  title,
  xLabel,
  x,
  series,
  formatX = plain,
  formatY = plain,
  formatTick = formatY,
  logScale = false,
  timeAxis = false,
  height = 220,
  controls,
  level = 3,
  empty = 'No values yet.',
}: LineChartProps) {
  const id = useId();
  const [asTable, setAsTable] = useState(false);
  const Heading = level === 2 ? 'h2' : 'h3';
  const data = useMemo(() => aligned(x, series, logScale), [x, series, logScale]);
  const { host, cursor, zoomed, resetZoom } = usePlot(
    { series, logScale, timeAxis, formatX, formatTick },
    data,
    height,
  );
  const summary = useMemo(
    () => series.filter((one) => one.faint !== true).map((one) => describeSeries(one, x, formatX, formatY)),
    [series, x, formatX, formatY],
  );
  const blank = x.length === 0;
  return (
    <figure aria-labelledby={id} className="m-0 min-w-0">
      <div className="mb-1 flex flex-wrap items-center justify-between gap-x-3">
        <Heading id={id} className="font-semibold">
          {title}
        </Heading>
        <div className="flex items-center gap-1">
          {controls}
          {zoomed && !asTable && (
            <IconButton icon={Maximize2} label={`Show all of ${title}`} onClick={resetZoom} />
          )}
          <IconButton
            icon={Table2}
            label={`${title} as a table`}
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          />
        </div>
      </div>
      <Legend {...{ series, x, xLabel, formatX, formatY }} index={cursor} />
      {/* The canvas has a fixed width: out of the flow, it cannot keep the column from getting narrower. */}
      <div className="relative" style={{ height }} hidden={asTable}>
        <div
          ref={host}
          role="img"
          aria-label={`${title}. ${summary.join(' ')}`}
          className="absolute inset-0 overflow-hidden"
        />
        {blank && <p className="absolute inset-0 grid place-items-center text-sm text-muted">{empty}</p>}
      </div>
      {asTable && <ChartTable {...{ title, xLabel, x, series, formatX, formatY, height }} />}
    </figure>
  );
}

/** A logarithmic axis has no place for what is not positive. */
function aligned(
  x: readonly number[],
  series: readonly ChartSeries[],
  positiveOnly: boolean,
): uPlot.AlignedData {
  const drawable = (value: number | null): number | null =>
    value === null || !Number.isFinite(value) || (positiveOnly && value <= 0) ? null : value;
  return [[...x], ...series.map(({ values }) => values.map(drawable))];
}
