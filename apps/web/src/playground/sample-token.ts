/** Drawing the next token from the model's logits. */
import type { Random } from '@tabweave/shared';

export interface SamplingOptions {
  /** Divides the logits; 0 takes the likeliest token. */
  temperature: number;
  /** Only the k likeliest tokens; 0 for all (Fan et al. 2018, section 5). */
  topK: number;
}

/** @param logits [vocabulary]. @returns a token id. @throws RangeError when no logit is a number. */
export function sampleToken(logits: Float32Array, options: SamplingOptions, random: Random): number {
  const order = Array.from(logits.keys()).filter((id) => !Number.isNaN(logits[id]));
  order.sort((a, b) => at(logits, b) - at(logits, a) || a - b);
  const best = order[0];
  if (best === undefined) throw new RangeError('The model gave no usable number: its parameters are broken.');
  if (options.temperature <= 0) return best;
  const kept = options.topK > 0 ? order.slice(0, options.topK) : order;
  const highest = at(logits, best);
  const weights = kept.map((id) => Math.exp((at(logits, id) - highest) / options.temperature));
  let left = random.uniform() * weights.reduce((sum, weight) => sum + weight, 0);
  for (const [position, id] of kept.entries()) {
    left -= weights[position] ?? 0;
    if (left < 0) return id;
  }
  return kept.at(-1) ?? best;
}

function at(logits: Float32Array, id: number): number {
  return logits[id] ?? Number.NEGATIVE_INFINITY;
}
