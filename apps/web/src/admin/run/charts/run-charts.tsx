import type { MetricPoint, Run } from '@tabweave/shared';
import { useMemo, useState } from 'react';
import { useMetrics } from '../../../api/queries.ts';
import {
  Card,
  LineChart,
  formatCompact,
  formatCount,
  formatElapsed,
  formatLoss,
  formatNumber,
  type ChartSeries,
} from '../../../ui/index.ts';
import { QueryState } from '../../parts/query-state.tsx';
import { lossSeries, plainSeries, xValues } from './chart-data.ts';
import { ChartSettingsBar, defaultSettings } from './chart-settings.tsx';
import { ExportButtons } from './export-buttons.tsx';

export function RunCharts({ run }: { run: Run }) {
  const metrics = useMetrics(run.id);
  return <QueryState query={metrics}>{(points) => <Charts run={run} points={points} />}</QueryState>;
}

interface ChartText {
  title: string;
  series: readonly ChartSeries[];
  formatY: (value: number) => string;
}

function Charts({ run, points }: { run: Run; points: readonly MetricPoint[] }) {
  const [settings, setSettings] = useState(defaultSettings);
  const [held, setHeld] = useState<readonly MetricPoint[] | null>(null);
  const shown = held ?? points;
  const { axis, smoothing } = settings;
  const x = useMemo(() => xValues(shown, axis), [shown, axis]);
  const loss = useMemo(() => lossSeries(shown, smoothing), [shown, smoothing]);
  const others = useMemo(() => furtherCharts(shown, smoothing), [shown, smoothing]);
  const common = {
    xLabel: axis === 'step' ? 'Step' : 'Time',
    x,
    timeAxis: axis === 'time',
    formatX: axis === 'step' ? formatCount : formatElapsed,
    empty:
      run.status === 'draft' ? 'Start the run to see its curve.' : 'The curve begins with the first step.',
  };
  return (
    <div className="grid gap-5">
      <Card>
        <div className="mb-4 flex flex-wrap items-end justify-between gap-3">
          <ChartSettingsBar
            settings={settings}
            frozen={held !== null}
            onChange={setSettings}
            onFreeze={(frozen) => setHeld(frozen ? points : null)}
          />
          <ExportButtons runId={run.id} />
        </div>
        <LineChart
          {...common}
          title="Loss"
          level={2}
          series={loss}
          formatY={formatLoss}
          formatTick={formatNumber}
          logScale={settings.logLoss}
          height={320}
        />
        <p className="mt-2 text-sm text-muted">
          Nats per token. Drag across a chart to zoom in; double-click to zoom out.
        </p>
      </Card>
      <div className="grid gap-5 lg:grid-cols-3">
        {others.map(({ title, series, formatY }) => (
          <Card key={title}>
            <LineChart {...common} title={title} level={2} series={series} formatY={formatY} height={180} />
          </Card>
        ))}
      </div>
    </div>
  );
}

function furtherCharts(points: readonly MetricPoint[], smoothing: number): ChartText[] {
  return [
    {
      title: 'Tokens per second',
      series: plainSeries(points, (p) => p.tokensPerSecond, { label: 'Tokens/s', tone: 3 }, smoothing),
      formatY: formatCompact,
    },
    {
      title: 'Gradient norm',
      series: plainSeries(points, (p) => p.gradientNorm, { label: 'Before clipping', tone: 4 }, smoothing),
      formatY: formatNumber,
    },
    {
      title: 'Learning rate',
      series: plainSeries(points, (p) => p.learningRate, { label: 'Learning rate', tone: 1 }, 0),
      formatY: formatNumber,
    },
  ];
}
