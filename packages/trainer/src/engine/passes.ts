/** How an engine runs its passes, and where their sums are kept between them. */
import * as tf from '@tensorflow/tfjs';

export interface TokenBatch {
  /** [samples x blockSize] each. */
  readonly inputs: Int32Array<ArrayBuffer>;
  readonly targets: Int32Array<ArrayBuffer>;
  readonly samples: number;
}

export type PassKind = 'train' | 'evaluate';

/** Sum over samples of the mean token loss, a scalar. */
export type LossFunction = (
  parameters: tf.Tensor[],
  ids: tf.Tensor1D,
  labels: tf.Tensor1D,
  samples: number,
) => tf.Scalar;

export interface Passes {
  /** The tensors of the layout, in its order. */
  readonly parameters: tf.Tensor[];
  /** Device memory beside what the back end counts. */
  readonly bytes: number;
  /** Other values for the parameters; the sums start from zero. */
  load(values: readonly Float32Array<ArrayBuffer>[]): void;
  begin(): void;
  /** Makes a pass of so many samples ready; nothing runs. */
  prepare(kind: PassKind, samples: number): Promise<void>;
  /** Gives up what `prepare` has made, which may hold buffers that could not be had. */
  discard(kind: PassKind, samples: number): void;
  /** Launches forward and backward, added to the sums. @returns its floating-point operations, 0 where not known. */
  train(batch: TokenBatch): number;
  /** Launches a forward pass. @returns its loss, a scalar that the caller owns. */
  evaluate(batch: TokenBatch): tf.Tensor;
  /** The gradient sums one after another, [layout.size], and the loss sum; the caller owns both. */
  sums(): { gradient: tf.Tensor1D; loss: tf.Tensor };
  dispose(): void;
}

/** As int32 tensors. */
export function batchTensors({ inputs, targets }: TokenBatch): [tf.Tensor1D, tf.Tensor1D] {
  return [tf.tensor1d(inputs, 'int32'), tf.tensor1d(targets, 'int32')];
}
