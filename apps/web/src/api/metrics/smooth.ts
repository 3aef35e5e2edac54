/**
 * Exponential moving average with bias correction (Kingma and Ba 2015, section 3), as TensorBoard smooths.
 * @param weight of the past, 0 (none) up to but without 1. Nulls stay null and do not count.
 */
export function smooth(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values];
  let average = 0;
  let correction = 1;
  return values.map((value) => {
    if (value === null || !Number.isFinite(value)) return null;
    average = weight * average + (1 - weight) * value;
    correction *= weight;
    return average / (1 - correction);
  });
}
