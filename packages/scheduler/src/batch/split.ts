/** Cutting a number of samples over workers so that the slowest finishes as early as can be. */

export interface RoundCost {
  /** Milliseconds of a round beside the computing. */
  fixed: number;
  /** Milliseconds per sample, above 0. */
  perSample: number;
}

/**
 * Integer sizes, their sum exactly `total`, that minimise the largest fixed + perSample x size over the workers with
 * any samples: the fixed point of OmniLearn's b' = b * mean(t) / t. Water-filling gives the real-valued optimum; what
 * flooring leaves over goes, one by one, where it finishes first, which is optimal for linear costs.
 * A worker whose fixed time alone exceeds the round gets 0.
 */
export function balancedSizes(total: number, costs: readonly RoundCost[]): number[] {
  const sizes = costs.map(() => 0);
  if (costs.length === 0 || total <= 0) return sizes;
  const byFixed = costs.map((_, index) => index).sort((a, b) => cost(costs, a).fixed - cost(costs, b).fixed);
  let weight = 0;
  let offset = 0;
  let level = Infinity;
  let active = 0;
  for (const index of byFixed) {
    const { fixed, perSample } = cost(costs, index);
    if (fixed >= level) break;
    weight += 1 / perSample;
    offset += fixed / perSample;
    active++;
    level = (total + offset) / weight;
  }
  let left = total;
  const chosen = byFixed.slice(0, active);
  for (const index of chosen) {
    const { fixed, perSample } = cost(costs, index);
    const size = Math.min(left, Math.max(0, Math.floor((level - fixed) / perSample)));
    sizes[index] = size;
    left -= size;
  }
  for (; left > 0; left--) {
    let best = -1;
    let bestTime = Infinity;
    for (const [index, { fixed, perSample }] of costs.entries()) {
      const time = fixed + perSample * ((sizes[index] as number) + 1);
      if (time < bestTime) [best, bestTime] = [index, time];
    }
    sizes[best] = (sizes[best] as number) + 1;
  }
  return sizes;
}

/** Sizes as alike as can be; the first get the remainder. */
export function equalSizes(total: number, workers: number): number[] {
  const base = Math.floor(total / workers);
  return Array.from({ length: workers }, (_, index) => base + (index < total % workers ? 1 : 0));
}

function cost(costs: readonly RoundCost[], index: number): RoundCost {
  return costs[index] as RoundCost;
}
