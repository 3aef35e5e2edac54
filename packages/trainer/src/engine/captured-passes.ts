/**
 * Passes as captured steps: for each number of samples the forward-backward is recorded once and replayed, straight into
 * the sums of the contribution.
 */
import { CapturedStep, type KernelRuntime } from '@tabweave/kernels';
import type { ParameterLayout } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';

/** Sizes whose arenas are kept: the usual one, that of a task's last pass, and one more. */
const keptSizes = 3;

export type LossFunction = (
  parameters: tf.Tensor[],
  ids: tf.Tensor1D,
  labels: tf.Tensor1D,
  samples: number,
) => tf.Scalar;

interface Pass {
  ids: tf.Tensor1D;
  labels: tf.Tensor1D;
  step: CapturedStep;
}

export class CapturedPasses {
  readonly #runtime: KernelRuntime;
  readonly #layout: ParameterLayout;
  readonly #parameters: tf.Tensor[];
  readonly #blockSize: number;
  readonly #loss: LossFunction;
  /** One for each parameter tensor, then the loss sum. */
  readonly #sums: tf.Tensor[];
  /** The least recently used first. */
  readonly #passes = new Map<string, Pass>();

  /** @param parameters stay where they are on the device for as long as this lives. */
  constructor(
    runtime: KernelRuntime,
    layout: ParameterLayout,
    parameters: tf.Tensor[],
    blockSize: number,
    loss: LossFunction,
  ) {
    this.#runtime = runtime;
    this.#layout = layout;
    this.#parameters = parameters;
    this.#blockSize = blockSize;
    this.#loss = loss;
    this.#sums = [...layout.tensors.map(({ shape }) => tf.zeros([...shape])), tf.zeros([])];
  }

  begin(): void {
    this.#runtime.clear(this.#sums);
  }

  /** Makes the pass of so many samples ready; nothing runs. @throws Error where it cannot be recorded. */
  async prepare(kind: 'train' | 'evaluate', samples: number): Promise<CapturedStep> {
    return (await this.#pass(kind, samples)).step;
  }

  /** Submits one pass; it is done when the device is idle. @returns its floating-point operations. */
  async run(
    kind: 'train' | 'evaluate',
    ids: Int32Array<ArrayBuffer>,
    labels: Int32Array<ArrayBuffer>,
    samples: number,
  ): Promise<number> {
    const pass = await this.#pass(kind, samples);
    this.#runtime.write(pass.ids, ids);
    this.#runtime.write(pass.labels, labels);
    pass.step.replay();
    return pass.step.flops;
  }

  /** Gradient sums in the order of the layout, then the loss sum, [layout.size + 1]; the caller owns it. */
  packed(): tf.Tensor1D {
    const { size, tensors } = this.#layout;
    const flat = tf.tensor1d(new Float32Array(size + 1));
    const offsets = [...tensors.map(({ offset }) => offset), size];
    this.#runtime.copyInto(flat, this.#sums, offsets);
    return flat;
  }

  dispose(): void {
    for (const pass of this.#passes.values()) release(pass);
    this.#passes.clear();
    tf.dispose(this.#sums);
  }

  async #pass(kind: 'train' | 'evaluate', samples: number): Promise<Pass> {
    const key = `${kind} ${samples}`;
    const pass = this.#passes.get(key) ?? (await this.#capture(kind, samples));
    this.#passes.delete(key);
    this.#passes.set(key, pass);
    const oldest = [...this.#passes.keys()][0] as string;
    if (this.#passes.size > keptSizes) {
      release(this.#passes.get(oldest) as Pass);
      this.#passes.delete(oldest);
    }
    return pass;
  }

  async #capture(kind: 'train' | 'evaluate', samples: number): Promise<Pass> {
    const tokens = samples * this.#blockSize;
    const [ids, labels] = [0, 1].map(() => tf.keep(tf.tensor1d(new Int32Array(tokens), 'int32'))) as [
      tf.Tensor1D,
      tf.Tensor1D,
    ];
    const lossTarget = { tensor: this.#sums.at(-1) as tf.Tensor, add: true };
    const loss = (...parameters: tf.Tensor[]): tf.Scalar => this.#loss(parameters, ids, labels, samples);
    try {
      const step = await CapturedStep.capture(this.#runtime, {
        inputs: [...this.#parameters, ids, labels],
        targets: kind === 'train' ? this.#sums.map((tensor) => ({ tensor, add: true })) : [lossTarget],
        run: () => {
          if (kind === 'evaluate') return [loss(...this.#parameters)];
          const { value, grads } = tf.valueAndGrads(loss)(this.#parameters);
          return [...grads, value];
        },
      });
      return { ids, labels, step };
    } catch (error) {
      tf.dispose([ids, labels]);
      throw error;
    }
  }
}

function release({ ids, labels, step }: Pass): void {
  step.dispose();
  tf.dispose([ids, labels]);
}
