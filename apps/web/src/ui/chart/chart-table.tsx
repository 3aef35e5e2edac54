import { spreadIndices, type ChartSeries } from './series.ts';

const most = 100;

export interface ChartTableProps {
  title: string;
  xLabel: string;
  x: readonly number[];
  series: readonly ChartSeries[];
  formatX: (x: number) => string;
  formatY: (y: number) => string;
  height: number;
}

/** The chart's data, newest first; a long series is thinned evenly. */
export function ChartTable({ title, xLabel, x, series, formatX, formatY, height }: ChartTableProps) {
  const rows = spreadIndices(x.length, most).reverse();
  return (
    // A region that scrolls must be reachable by keyboard.
    <div
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={`${title}, table`}
      className="overflow-auto"
      style={{ height }}
    >
      <table className="tabular w-full text-sm">
        <caption className="sr-only">
          {title}
          {x.length > most ? `, ${most} of ${x.length} points` : ''}
        </caption>
        <thead className="sticky top-0 bg-surface text-left text-muted">
          <tr>
            <th scope="col" className="py-1 pr-4 font-medium">
              {xLabel}
            </th>
            {series.map((one) => (
              <th key={one.label} scope="col" className="py-1 pr-4 font-medium">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((index) => (
            <tr key={index} className="border-t border-line">
              <th scope="row" className="py-1 pr-4 text-left font-normal">
                {formatX(x[index] ?? 0)}
              </th>
              {series.map((one) => {
                const value = one.values[index] ?? null;
                return (
                  <td key={one.label} className="py-1 pr-4">
                    {value === null ? '–' : formatY(value)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
