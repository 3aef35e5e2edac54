/** What a contender is: one small file that trains a model its own way. */
import type { Outcome } from '../agreement.ts';
import type { Model } from '../models.ts';
import type { ModelData } from './data.ts';

export interface Contender {
  /** Uploads the parameters and whatever else happens once a model. Counted into the first step. */
  prepare(model: Model, data: ModelData): Promise<Trained>;
}

export interface Trained {
  /**
   * The loss and the gradients of all parameters, on the device; resolves when the device has done both. Gradients
   * are not read back and parameters do not change.
   */
  step(): Promise<void>;
  /** A step whose results are read: for the comparison with the others, never timed. */
  outcome(): Promise<Outcome>;
  /** What the contender does by itself in its first seconds of work, such as tuning; between first step and rounds. */
  settle?(): Promise<void>;
  dispose(): void;
}

export function norm(gradients: Iterable<ArrayLike<number>>): number {
  let squares = 0;
  for (const values of gradients) {
    for (let i = 0; i < values.length; i++) squares += (values[i] as number) ** 2;
  }
  return Math.sqrt(squares);
}
