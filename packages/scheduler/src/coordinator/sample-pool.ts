/** Samples that wait for a worker: half-open ranges, in order, adjacent ones merged. */
import type { SampleRange } from './types.ts';

export class SamplePool {
  #ranges: SampleRange[];

  /** Holds the samples 0 to `end`. */
  constructor(end: number) {
    this.#ranges = end > 0 ? [{ start: 0, end }] : [];
  }

  get size(): number {
    return this.#ranges.reduce((sum, range) => sum + range.end - range.start, 0);
  }

  get empty(): boolean {
    return this.#ranges.length === 0;
  }

  /** Takes one range of at most `size` samples; null when there is none or `size` is below 1. */
  take(size: number): SampleRange | null {
    const first = this.#ranges[0];
    if (!first || size < 1) return null;
    const end = Math.min(first.end, first.start + size);
    const taken = { start: first.start, end };
    if (end === first.end) this.#ranges.shift();
    else first.start = end;
    return taken;
  }

  put(range: SampleRange): void {
    const ranges = [...this.#ranges, { ...range }].sort((a, b) => a.start - b.start);
    const merged: SampleRange[] = [];
    for (const next of ranges) {
      const last = merged.at(-1);
      if (last && last.end === next.start) last.end = next.end;
      else merged.push(next);
    }
    this.#ranges = merged;
  }
}
