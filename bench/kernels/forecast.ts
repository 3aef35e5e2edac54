/** Whether a contender's turn at a model is worth starting: a guess in time and memory, made before it is tried. */
import { largestTensor, stepFlops, stepMemory, type Model } from './models.ts';
import type { AdapterReport } from './report.ts';

/** Of the measured ceiling; plain op-by-op training of small models gets less, of large ones more. */
const assumedShare = 0.05;

export interface Measured {
  model: Model;
  seconds: number;
}

/**
 * Seconds of a step: what the last model took, by its number of layers (launches do not grow with the width), and the
 * arithmetic of this one at a modest share of the ceiling.
 */
export function forecastSeconds(model: Model, ceilingFlops: number, last: Measured | null): number {
  const arithmetic = stepFlops(model) / (assumedShare * ceilingFlops);
  return arithmetic + (last ? (last.seconds * layers(model)) / layers(last.model) : 0);
}

function layers(model: Model): number {
  return model.kind === 'gpt2' ? model.config.layers : 2;
}

/** @returns why not, in words; null when the model fits. */
export function tooLarge(model: Model, adapter: AdapterReport, memoryGiB: number): string | null {
  const needed = stepMemory(model) / 2 ** 30;
  if (needed > memoryGiB) return `needs about ${needed.toFixed(1)} GiB of ${memoryGiB} (--memory)`;
  const largest = largestTensor(model);
  if (largest > adapter.maxBindingBytes) {
    return `a tensor of ${toMiB(largest)} MiB is above the adapter's ${toMiB(adapter.maxBindingBytes)} MiB`;
  }
  return null;
}

const toMiB = (bytes: number): number => Math.round(bytes / 2 ** 20);
