/** From metric points to the lines of the run page's charts. */
import type { MetricPoint } from '@tabweave/shared';
import { smooth } from '../../../api/metrics/smooth.ts';
import type { ChartSeries } from '../../../ui/index.ts';

export type XAxis = 'step' | 'time';

/** Steps, or milliseconds since the first point was made. */
export function xValues(points: readonly MetricPoint[], axis: XAxis): number[] {
  if (axis === 'step') return points.map(({ step }) => step);
  const start = Date.parse(points[0]?.at ?? '');
  return points.map(({ at }) => Date.parse(at) - start);
}

/** Training loss, raw behind smoothed where smoothing is on, and validation loss. */
export function lossSeries(points: readonly MetricPoint[], smoothing: number): ChartSeries[] {
  const raw = points.map(({ trainLoss }) => trainLoss);
  const validation: ChartSeries = {
    label: 'Validation',
    tone: 2,
    sparse: true,
    values: points.map(({ validationLoss }) => validationLoss),
  };
  if (smoothing <= 0) return [{ label: 'Training', tone: 1, values: raw }, validation];
  return [
    { label: 'Training, each step', tone: 1, faint: true, values: raw },
    { label: 'Training', tone: 1, values: smooth(raw, smoothing) },
    validation,
  ];
}

/** One quantity, smoothed like the loss. */
export function plainSeries(
  points: readonly MetricPoint[],
  pick: (point: MetricPoint) => number,
  look: Pick<ChartSeries, 'label' | 'tone'>,
  smoothing: number,
): ChartSeries[] {
  const raw = points.map(pick);
  if (smoothing <= 0) return [{ ...look, values: raw }];
  return [
    { ...look, label: `${look.label}, each step`, faint: true, values: raw },
    { ...look, values: smooth(raw, smoothing) },
  ];
}
