import type { RoutedHolding } from './router.ts';

/** @throws RangeError for stages or a weight that are none. */
export function checkHolding(worker: string, { from, to, weight }: RoutedHolding): void {
  if (!(Number.isInteger(from) && Number.isInteger(to) && from >= 0 && from < to))
    throw new RangeError(`Worker ${worker} cannot hold the stages [${from}, ${to})`);
  if (!(weight > 0 && weight < Infinity))
    throw new RangeError(`The weight of worker ${worker} is ${weight} micro-batches per second: above 0`);
}
