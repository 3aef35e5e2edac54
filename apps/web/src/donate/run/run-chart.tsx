/** The run's loss so far; `children` stand above the curve. */
import type { PublicRun } from '@tabweave/shared';
import { useMemo, type ReactNode } from 'react';
import { Card, LineChart, type ChartSeries } from '../../ui/index.ts';
import { useMetrics } from '../hooks/use-public-data.ts';

const formatLoss = (value: number): string => value.toFixed(3);

export function RunChart({ run, children }: { run: PublicRun; children?: ReactNode }) {
  const { data } = useMetrics(run.id);
  const x = useMemo(() => (data ?? []).map((point) => point.step), [data]);
  const series = useMemo<ChartSeries[]>(
    () => [
      { label: 'Training', tone: 1, values: (data ?? []).map((point) => point.trainLoss) },
      {
        label: 'Validation',
        tone: 2,
        sparse: true,
        values: (data ?? []).map((point) => point.validationLoss),
      },
    ],
    [data],
  );
  return (
    <Card>
      {children}
      <LineChart
        title="Loss"
        level={2}
        xLabel="Step"
        x={x}
        series={series}
        formatY={formatLoss}
        empty="The curve begins with the first step."
      />
      <p className="mt-2 text-sm text-muted">
        How surprised the model is by the next piece of text, in nats per token: lower is better.
      </p>
    </Card>
  );
}
