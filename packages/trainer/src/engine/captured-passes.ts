/**
 * Passes as captured steps: for each number of samples the forward-backward is recorded once and replayed, straight into
 * the sums of the contribution. Parameters and sums stay where they are on the device.
 */
import {
  CapturedStep,
  KernelCompilationError,
  switchedOn,
  switchOff,
  type KernelRuntime,
} from '@tabweave/kernels';
import type { ParameterLayout } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { EngineError } from './engine.ts';
import type { LossFunction, PassKind, Passes, TokenBatch } from './passes.ts';

/** Sizes whose arenas are kept: the usual one, that of a task's last pass, and one more. */
const keptSizes = 3;

interface Pass {
  readonly kind: PassKind;
  readonly samples: number;
  ids: tf.Tensor1D;
  labels: tf.Tensor1D;
  step: CapturedStep;
}

export class CapturedPasses implements Passes {
  readonly parameters: tf.Tensor[];
  readonly #runtime: KernelRuntime;
  readonly #layout: ParameterLayout;
  readonly #blockSize: number;
  readonly #loss: LossFunction;
  readonly #gradientSums: tf.Tensor[];
  readonly #lossSum: tf.Tensor;
  readonly #evaluated: tf.Tensor;
  /** The least recently used first. */
  readonly #passes = new Map<string, Pass>();
  #begun = false;

  constructor(runtime: KernelRuntime, layout: ParameterLayout, blockSize: number, loss: LossFunction) {
    this.#runtime = runtime;
    this.#layout = layout;
    this.#blockSize = blockSize;
    this.#loss = loss;
    const empty = (): tf.Tensor[] => layout.tensors.map(({ shape }) => runtime.empty([...shape]));
    this.parameters = empty();
    this.#gradientSums = empty();
    this.#lossSum = runtime.empty([]);
    this.#evaluated = runtime.empty([]);
    // Passes may be made ready before parameters come.
    runtime.clear([...this.parameters, ...this.#gradientSums, this.#lossSum]);
  }

  get bytes(): number {
    return [...this.#passes.values()].reduce((sum, { step }) => sum + step.bytes, 0);
  }

  /** Whether the sums hold anything. */
  get begun(): boolean {
    return this.#begun;
  }

  load(values: readonly Float32Array<ArrayBuffer>[]): void {
    this.parameters.forEach((tensor, i) =>
      this.#runtime.write(tensor, values[i] as Float32Array<ArrayBuffer>),
    );
    this.begin();
  }

  begin(): void {
    this.#begun = false;
    this.#runtime.clear([...this.#gradientSums, this.#lossSum]);
  }

  async prepare(kind: PassKind, samples: number): Promise<void> {
    const key = `${kind} ${samples}`;
    const pass = this.#passes.get(key) ?? (await this.#capture(kind, samples));
    this.#passes.delete(key);
    this.#passes.set(key, pass);
    for (const oldest of [...this.#passes.keys()].slice(0, -keptSizes)) this.#drop(oldest);
  }

  discard(kind: PassKind, samples: number): void {
    this.#drop(`${kind} ${samples}`);
  }

  train(batch: TokenBatch): number {
    const flops = this.#replay('train', batch);
    this.#begun = true;
    return flops;
  }

  evaluate(batch: TokenBatch): tf.Tensor {
    this.#replay('evaluate', batch);
    const copy = this.#runtime.empty([]);
    this.#runtime.copyInto(copy, [this.#evaluated], [0]);
    return copy;
  }

  sums(): { gradient: tf.Tensor1D; loss: tf.Tensor } {
    if (!this.#begun) throw new EngineError('internal', 'nothing has been accumulated');
    const gradient = this.#runtime.empty([this.#layout.size]) as tf.Tensor1D;
    this.#runtime.copyInto(
      gradient,
      this.#gradientSums,
      this.#layout.tensors.map(({ offset }) => offset),
    );
    const loss = this.#runtime.empty([]);
    this.#runtime.copyInto(loss, [this.#lossSum], [0]);
    return { gradient, loss };
  }

  /** Records anew what is recorded, with the tiles that have been chosen since. */
  async recordAgain(): Promise<void> {
    const sizes = [...this.#passes.values()].map(({ kind, samples }) => ({ kind, samples }));
    this.forget();
    for (const { kind, samples } of sizes) await this.prepare(kind, samples);
  }

  /** Gives up all that `prepare` has made. */
  forget(): void {
    for (const key of [...this.#passes.keys()]) this.#drop(key);
  }

  dispose(): void {
    this.forget();
    tf.dispose([...this.parameters, ...this.#gradientSums, this.#lossSum, this.#evaluated]);
  }

  #replay(kind: PassKind, { inputs, targets, samples }: TokenBatch): number {
    const pass = this.#passes.get(`${kind} ${samples}`);
    if (!pass) throw new EngineError('internal', `a pass of ${samples} samples has not been prepared`);
    this.#runtime.write(pass.ids, inputs);
    this.#runtime.write(pass.labels, targets);
    pass.step.replay();
    return pass.step.flops;
  }

  #drop(key: string): void {
    const pass = this.#passes.get(key);
    if (!pass) return;
    this.#passes.delete(key);
    pass.step.dispose();
    tf.dispose([pass.ids, pass.labels]);
  }

  async #capture(kind: PassKind, samples: number): Promise<Pass> {
    const shape = [samples * this.#blockSize];
    const ids = this.#runtime.empty(shape, 'int32') as tf.Tensor1D;
    const labels = this.#runtime.empty(shape, 'int32') as tf.Tensor1D;
    try {
      return { kind, samples, ids, labels, step: await this.#record(kind, ids, labels, samples) };
    } catch (error) {
      tf.dispose([ids, labels]);
      // Without this kernel the step is recorded with its twin; one that is used all the same ends the attempt.
      if (!(error instanceof KernelCompilationError) || !switchedOn(error.kernel)) throw error;
      switchOff(error.kernel, error.message);
      return this.#capture(kind, samples);
    }
  }

  #record(kind: PassKind, ids: tf.Tensor1D, labels: tf.Tensor1D, samples: number): Promise<CapturedStep> {
    const loss = (...parameters: tf.Tensor[]): tf.Scalar => this.#loss(parameters, ids, labels, samples);
    const sums = [...this.#gradientSums, this.#lossSum];
    return CapturedStep.capture(this.#runtime, {
      inputs: [...this.parameters, ids, labels],
      targets:
        kind === 'train'
          ? sums.map((tensor) => ({ tensor, add: true }))
          : [{ tensor: this.#evaluated, add: false }],
      run: () => {
        if (kind === 'evaluate') return [loss(...this.parameters)];
        const { value, grads } = tf.valueAndGrads(loss)(this.parameters);
        return [...grads, value];
      },
    });
  }
}
