/** What a contender makes of one operation. */
import type { Fingerprint } from '../../agreement.ts';
import { operationIndices, operationInputs, type Operation } from '../../operations.ts';
import { integers, randomNumbers, uniform } from '../data.ts';

export interface OperationData {
  inputs: { values: Float32Array; shape: number[] }[];
  /** Labels or indices; null where the operation has none. */
  indices: Int32Array | null;
}

export interface Launcher {
  /** Queues the operation, with its gradient where it has one; does not wait. */
  launch(): void;
  /** Resolves when the device has done all that was launched. */
  settle(): Promise<void>;
  /** The outputs of one launch, in a fixed order: the value, then the gradients. */
  outputs(): Promise<ArrayLike<number>[]>;
  dispose(): void;
}

export interface OperationContender {
  start(): Promise<void>;
  /** What the contender would measure by itself for the operation just prepared. */
  tune?(): Promise<void>;
  prepare(operation: Operation, data: OperationData): Launcher;
}

export function operationData(operation: Operation): OperationData {
  const random = randomNumbers(7);
  const inputs = operationInputs(operation).map((shape) => ({
    shape,
    values: uniform(
      random,
      shape.reduce((product, side) => product * side, 1),
      1,
    ),
  }));
  const spec = operationIndices(operation);
  return { inputs, indices: spec && integers(random, spec.rows, spec.below) };
}

/** Norm and projection on a fixed vector of ones and minus ones: numbers in other places give another projection. */
export function fingerprint(values: ArrayLike<number>): Fingerprint {
  let [squares, projection] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    squares += value * value;
    // The top bit of a multiplicative hash (Knuth's constant).
    projection += Math.imul(i + 1, 0x9e3779b1) < 0 ? -value : value;
  }
  return { norm: Math.sqrt(squares), projection };
}
