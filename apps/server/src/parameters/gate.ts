/**
 * Checks on a contribution before it may touch the sum: every value finite, and the norm of its mean gradient not
 * far above what the run has seen. Size and encoding are checked by the decoder; duplicates by the coordinator.
 */

/** Times the running median that a contribution's norm may reach. */
export const normFactor = 20;
/** The running median may be this many times a contribution's norm: less is no work, and would drag the median down. */
const smallestShare = 1000;
/** Accepted contributions seen before the norm is judged. */
const minimumHistory = 8;
const historyLength = 64;
/** No healthy model comes near it; it also keeps the float32 sum of a whole batch from overflowing. */
const largestNorm = 1e6;
/**
 * Norm refusals in one step after which a contribution is scaled to the bound instead: an honest, rare batch would
 * else be refused from every worker for ever. What a hostile worker gains is bounded by the same number.
 */
const refusalsBeforeScaling = 3;

export type Verdict =
  | { accepted: true; norm: number /** Factor to apply to it, 1 or less. */; scale: number }
  | { accepted: false; reason: string; finite: boolean };

export class ContributionGate {
  #history: number[] = [];
  #refusalsInStep = 0;

  openStep(): void {
    this.#refusalsInStep = 0;
  }

  /** @param sum gradient sum over `samples` samples. */
  check(sum: Float32Array, samples: number): Verdict {
    let squares = 0;
    for (let i = 0; i < sum.length; i++) {
      const value = sum[i] as number;
      squares += value * value;
    }
    // One non-finite value makes the sum of squares non-finite; so would overflow, which is as bad.
    if (!Number.isFinite(squares)) {
      return { accepted: false, reason: 'it has values that are not finite', finite: false };
    }
    const norm = Math.sqrt(squares) / samples;
    if (norm > largestNorm) {
      return { accepted: false, reason: `its gradient norm is ${norm.toPrecision(3)}`, finite: false };
    }
    const usual = this.#usual();
    if (norm === 0 || (usual !== null && norm < usual / smallestShare)) {
      return {
        accepted: false,
        reason: `its gradient norm is ${norm.toPrecision(3)}, next to nothing`,
        finite: true,
      };
    }
    const bound = usual === null ? Infinity : normFactor * usual;
    if (norm <= bound) {
      this.#remember(norm);
      return { accepted: true, norm, scale: 1 };
    }
    this.#refusalsInStep++;
    if (this.#refusalsInStep > refusalsBeforeScaling) {
      this.#remember(bound);
      return { accepted: true, norm, scale: bound / norm };
    }
    return {
      accepted: false,
      finite: true,
      reason: `its gradient norm ${norm.toPrecision(3)} is over ${normFactor} times the usual ${(bound / normFactor).toPrecision(3)}`,
    };
  }

  /** Median norm of late; null while there is too little to tell. */
  #usual(): number | null {
    if (this.#history.length < minimumHistory) return null;
    const sorted = [...this.#history].sort((a, b) => a - b);
    return sorted[sorted.length >> 1] as number;
  }

  #remember(norm: number): void {
    this.#history.push(norm);
    if (this.#history.length > historyLength) this.#history.shift();
  }
}
