/** Metric points arrive by request and by push, in any order, and again when their validation loss is known. */
import type { MetricPoint } from '@tabweave/shared';

/** Steps that may still get a validation loss, so that they are asked for again. */
const revisited = 200;

/**
 * Points of both lists, one per step, oldest first; of two for one step the fresh one counts, but a validation
 * loss that is known is kept.
 */
export function mergePoints(known: readonly MetricPoint[], fresh: readonly MetricPoint[]): MetricPoint[] {
  const last = known.at(-1);
  const ordered = fresh.every((point, index) => point.step > (fresh[index - 1]?.step ?? last?.step ?? 0));
  if (ordered) return [...known, ...fresh];
  const bySteps = new Map(known.map((point) => [point.step, point]));
  for (const point of fresh) {
    const before = bySteps.get(point.step);
    bySteps.set(point.step, {
      ...point,
      validationLoss: point.validationLoss ?? before?.validationLoss ?? null,
    });
  }
  return [...bySteps.values()].sort((a, b) => a.step - b.step);
}

/** The step after which to ask for points again: before the first gap, and before late validation losses. */
export function refetchAfter(known: readonly MetricPoint[]): number {
  const gap = known.findIndex((point, index) => point.step !== index + 1);
  const contiguous = gap === -1 ? known.length : gap;
  return Math.max(0, contiguous - revisited);
}
