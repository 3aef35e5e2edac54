/** Passes operation by operation: on every back end, and the reference for captured ones. */
import type { ParameterLayout } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { EngineError } from './engine.ts';
import { batchTensors, type LossFunction, type Passes, type TokenBatch } from './passes.ts';

export class OpPasses implements Passes {
  parameters: tf.Tensor[] = [];
  readonly bytes = 0;
  readonly #layout: ParameterLayout;
  readonly #loss: LossFunction;
  #sums: tf.Tensor[] = [];
  #lossSum: tf.Tensor | null = null;

  constructor(layout: ParameterLayout, loss: LossFunction) {
    this.#layout = layout;
    this.#loss = loss;
  }

  load(values: readonly Float32Array<ArrayBuffer>[]): void {
    tf.dispose(this.parameters);
    this.parameters = this.#layout.tensors.map(({ shape }, i) =>
      tf.tensor(values[i] as Float32Array, [...shape]),
    );
    this.begin();
  }

  begin(): void {
    tf.dispose(this.#sums);
    this.#lossSum?.dispose();
    this.#sums = [];
    this.#lossSum = null;
  }

  async prepare(): Promise<void> {
    // Operations compile as they run.
  }

  discard(): void {
    // Nothing has been prepared.
  }

  train(batch: TokenBatch): number {
    tf.tidy(() => {
      const [ids, labels] = batchTensors(batch);
      const { value, grads } = tf.valueAndGrads((...parameters: tf.Tensor[]) =>
        this.#loss(parameters, ids, labels, batch.samples),
      )(this.parameters);
      const sums =
        this.#sums.length === 0 ? grads : grads.map((g, i) => tf.add(this.#sums[i] as tf.Tensor, g));
      const lossSum = this.#lossSum ? tf.add(this.#lossSum, value) : value;
      tf.dispose(this.#sums);
      this.#lossSum?.dispose();
      this.#sums = sums.map((sum) => tf.keep(sum));
      this.#lossSum = tf.keep(lossSum);
    });
    return 0;
  }

  evaluate(batch: TokenBatch): tf.Tensor {
    return tf.tidy(() => {
      const [ids, labels] = batchTensors(batch);
      return this.#loss(this.parameters, ids, labels, batch.samples);
    });
  }

  sums(): { gradient: tf.Tensor1D; loss: tf.Tensor } {
    const loss = this.#lossSum;
    if (!loss) throw new EngineError('internal', 'nothing has been accumulated');
    return tf.tidy(() => ({
      gradient: tf.concat1d(this.#sums.map((sum) => tf.reshape(sum, [sum.size]) as tf.Tensor1D)),
      loss: tf.clone(loss),
    }));
  }

  dispose(): void {
    this.begin();
    tf.dispose(this.parameters);
    this.parameters = [];
  }
}
