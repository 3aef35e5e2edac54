/**
 * Error feedback: what a lossy encoding leaves out of one contribution is added to the next, so that the sum of what
 * arrives follows the sum of what was computed (Seide et al. 2014, "1-bit SGD", section 2; Karimireddy et al.
 * arXiv 1901.09847). The residual moves on only when the server has counted the contribution.
 */
import { decodeVector, encodeVector, type Encoding } from '@tabweave/shared';
import { EngineError } from './engine.ts';

export interface EncodedGradient {
  bytes: Uint8Array<ArrayBuffer>;
  /** To be called when the server has counted it. */
  accepted(): void;
}

export class ErrorFeedback {
  #model = '';
  #residual: Float32Array | null = null;
  /** Counts changes of the model. */
  #generation = 0;

  /**
   * Encodes a gradient sum together with the residual of earlier ones.
   * @param model names the run and shape that the gradient is of; the residual of another is dropped.
   * @param gradient changed in place.
   * @throws EngineError `non-finite` when a value is not finite, or too large for the encoding.
   */
  encode(model: string, gradient: Float32Array, encoding: Encoding): EncodedGradient {
    if (!allFinite(gradient)) {
      throw new EngineError('non-finite', 'the gradient contains values that are not finite');
    }
    if (this.#model !== model || encoding === 'float32') {
      this.#residual = null;
      this.#generation++;
    }
    this.#model = model;
    if (encoding === 'float32') return { bytes: encodeVector(gradient, encoding), accepted: () => undefined };
    const residual = this.#residual;
    if (residual) for (let i = 0; i < gradient.length; i++) gradient[i] = at(gradient, i) + at(residual, i);
    const bytes = encodeVector(gradient, encoding);
    const left = new Float32Array(gradient.length);
    decodeVector(bytes, encoding, left);
    for (let i = 0; i < left.length; i++) left[i] = at(gradient, i) - at(left, i);
    if (!allFinite(left)) {
      throw new EngineError('non-finite', `the gradient contains values too large for ${encoding}`);
    }
    const generation = this.#generation;
    return {
      bytes,
      accepted: () => {
        // The answer may come when another model is worked on.
        if (generation === this.#generation) this.#residual = left;
      },
    };
  }
}

function at(vector: Float32Array, index: number): number {
  return vector[index] as number;
}

/** Zero times a value is NaN exactly where the value is not finite. */
function allFinite(vector: Float32Array): boolean {
  let sum = 0;
  for (const value of vector) sum += value * 0;
  return sum === 0;
}
