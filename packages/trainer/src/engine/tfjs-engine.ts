/**
 * The engine on TensorFlow.js with the operations of `@tabweave/kernels`: as captured steps on WebGPU, operation by
 * operation elsewhere and where a step cannot be captured.
 */
import { crossEntropySum, type GpuFailure, type WebGpuDevice } from '@tabweave/kernels';
import { gpt2Layout, type DeviceReport, type ParameterLayout } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { setUpBackend, type BackendOptions } from './backend.ts';
import { CapturedPasses } from './captured-passes.ts';
import { EngineError, type Engine, type GradientSum, type LoadedModel } from './engine.ts';
import { gpt2Logits } from './gpt2.ts';

/** @throws Error in words when no back end can be used. */
export async function createEngine(options: BackendOptions): Promise<Engine> {
  const { report, gpu } = await setUpBackend(options);
  return new TfjsEngine(report, gpu, options.captured ?? true);
}

class TfjsEngine implements Engine {
  readonly report: DeviceReport;
  readonly lost: Promise<EngineError>;
  readonly #gpu: WebGpuDevice | null;
  #model: LoadedModel | null = null;
  #layout: ParameterLayout | null = null;
  #parameters: tf.Tensor[] = [];
  #sums: tf.Tensor[] = [];
  #lossSum: tf.Tensor | null = null;
  readonly #mayCapture: boolean;
  #captured: CapturedPasses | null = null;
  #lostError: EngineError | null = null;
  /** Shapes that have run to the end. */
  readonly #warm = new Set<string>();
  #presentShape = '';

  constructor(report: DeviceReport, gpu: WebGpuDevice | null, mayCapture: boolean) {
    this.report = report;
    this.#gpu = gpu;
    this.#mayCapture = mayCapture;
    this.lost = gpu
      ? gpu.lost.then((failure) => {
          this.#lostError = toEngineError(failure);
          return this.#lostError;
        })
      : new Promise(() => undefined);
  }

  get cold(): boolean {
    return !this.#warm.has(this.#presentShape);
  }

  async load(model: LoadedModel, parameters: Float32Array): Promise<void> {
    const layout = gpt2Layout(model.config);
    if (parameters.length !== layout.size) {
      throw new EngineError('bad-data', `${parameters.length} parameters for a model of ${layout.size}`);
    }
    if (model.blockSize > model.config.positions) {
      throw new EngineError('bad-data', `${model.blockSize} tokens for ${model.config.positions} positions`);
    }
    const values = layout.tensors.map(({ offset, size }) => parameters.slice(offset, offset + size));
    const same = JSON.stringify(model) === JSON.stringify(this.#model);
    const gpu = this.#gpu;
    await this.#guarded(() => {
      if (same && gpu && this.#captured) {
        this.begin();
        this.#parameters.forEach((tensor, i) =>
          gpu.kernels.write(tensor, values[i] as Float32Array<ArrayBuffer>),
        );
        return;
      }
      this.#release();
      // Another model has other shapes, which are yet to be compiled.
      if (!same) this.#warm.clear();
      this.#model = model;
      this.#layout = layout;
      this.#parameters = layout.tensors.map(({ shape }, i) =>
        tf.tensor(values[i] as Float32Array, [...shape]),
      );
      if (gpu && this.#mayCapture) {
        this.#captured = new CapturedPasses(
          gpu.kernels,
          layout,
          this.#parameters,
          model.blockSize,
          (...pass) => this.#loss(...pass),
        );
      }
    });
  }

  begin(): void {
    this.#captured?.begin();
    tf.dispose(this.#sums);
    this.#lossSum?.dispose();
    this.#sums = [];
    this.#lossSum = null;
  }

  async accumulate(tokens: Int32Array, samples: number): Promise<void> {
    const { inputs, targets } = this.#split(tokens, samples);
    this.#presentShape = `train ${samples}`;
    if (this.#captured && (await this.#replay('train', inputs, targets, samples))) return;
    await this.#guarded(() => {
      tf.tidy(() => {
        const ids = tf.tensor1d(inputs, 'int32');
        const labels = tf.tensor1d(targets, 'int32');
        const { value, grads } = tf.valueAndGrads((...parameters: tf.Tensor[]) =>
          this.#loss(parameters, ids, labels, samples),
        )(this.#parameters);
        const sums =
          this.#sums.length === 0 ? grads : grads.map((g, i) => tf.add(this.#sums[i] as tf.Tensor, g));
        const lossSum = this.#lossSum ? tf.add(this.#lossSum, value) : value;
        tf.dispose(this.#sums);
        this.#lossSum?.dispose();
        this.#sums = sums.map((sum) => tf.keep(sum));
        this.#lossSum = tf.keep(lossSum);
      });
    });
    this.#warm.add(this.#presentShape);
  }

  async finish(): Promise<GradientSum> {
    const { layout } = this.#loaded();
    const packed = await this.#guarded(() => this.#packSums());
    const values = await this.#take(packed);
    this.begin();
    const lossSum = values[layout.size] as number;
    const gradientSum = values.slice(0, layout.size);
    if (!Number.isFinite(lossSum)) throw new EngineError('non-finite', `the loss is ${lossSum}`);
    if (!gradientSum.every(Number.isFinite)) {
      const index = gradientSum.findIndex((value) => !Number.isFinite(value));
      const tensor = layout.tensors.find(({ offset, size }) => index < offset + size);
      throw new EngineError('non-finite', `the gradient of ${tensor?.name ?? 'a tensor'} is not finite`);
    }
    return { lossSum, gradientSum };
  }

  /** Gradient sums and loss sum in one vector. */
  #packSums(): tf.Tensor1D {
    if (this.#captured) return this.#captured.packed();
    const loss = this.#lossSum;
    if (!loss) throw new EngineError('internal', 'nothing has been accumulated');
    return tf.tidy(() =>
      tf.concat1d([...this.#sums, loss].map((sum) => tf.reshape(sum, [sum.size]) as tf.Tensor1D)),
    );
  }

  /** @returns false where the pass cannot be captured; it is computed operation by operation from then on. */
  async #replay(
    kind: 'train' | 'evaluate',
    inputs: Int32Array<ArrayBuffer>,
    targets: Int32Array<ArrayBuffer>,
    samples: number,
  ): Promise<boolean> {
    const captured = this.#captured as CapturedPasses;
    await this.#guarded(() => captured.prepare(kind, samples));
    const began = performance.now();
    const flops = await this.#guarded(() => captured.run(kind, inputs, targets, samples));
    this.#gpu?.kernels.pacing.learn(flops, performance.now() - began);
    this.#warm.add(this.#presentShape);
    return true;
  }

  async evaluate(tokens: Int32Array, samples: number): Promise<number> {
    const { inputs, targets } = this.#split(tokens, samples);
    this.#presentShape = `evaluate ${samples}`;
    const loss = await this.#guarded(() =>
      tf.tidy(() =>
        this.#loss(this.#parameters, tf.tensor1d(inputs, 'int32'), tf.tensor1d(targets, 'int32'), samples),
      ),
    );
    const [value] = await this.#take(loss);
    if (!Number.isFinite(value)) throw new EngineError('non-finite', `the loss is ${value}`);
    this.#warm.add(this.#presentShape);
    return value as number;
  }

  async logits(ids: Int32Array): Promise<Float32Array> {
    const { config } = this.#loaded().model;
    if (ids.length === 0 || ids.length > config.positions) {
      throw new EngineError('bad-data', `${ids.length} tokens for ${config.positions} positions`);
    }
    checkTokens(ids, config.vocabSize);
    const last = await this.#guarded(() =>
      tf.tidy(() => {
        const logits = gpt2Logits(config, this.#parameters, tf.tensor1d(ids, 'int32'), 1, ids.length);
        return tf.reshape(tf.slice(logits, [ids.length - 1, 0], [1, config.vocabSize]), [config.vocabSize]);
      }),
    );
    return this.#take(last);
  }

  memoryBytes(): number {
    return this.#gpu ? this.#gpu.allocatedBytes() : tf.memory().numBytes;
  }

  dispose(): void {
    if (!this.#lostError) this.#release();
    this.#gpu?.dispose();
  }

  /** Sum over samples of the mean token loss, a scalar. */
  #loss(parameters: tf.Tensor[], ids: tf.Tensor1D, labels: tf.Tensor1D, samples: number): tf.Scalar {
    const { model } = this.#loaded();
    const { config, blockSize } = model;
    const logits = gpt2Logits(config, parameters, ids, samples, blockSize);
    return crossEntropySum(logits, labels, 1 / blockSize);
  }

  #split(
    tokens: Int32Array,
    samples: number,
  ): { inputs: Int32Array<ArrayBuffer>; targets: Int32Array<ArrayBuffer> } {
    const { blockSize, config } = this.#loaded().model;
    const row = blockSize + 1;
    if (tokens.length !== samples * row) {
      throw new EngineError('bad-data', `${tokens.length} tokens, not ${samples} rows of ${row}`);
    }
    checkTokens(tokens, config.vocabSize);
    const inputs = new Int32Array(samples * blockSize);
    const targets = new Int32Array(samples * blockSize);
    for (let sample = 0; sample < samples; sample++) {
      const start = sample * row;
      inputs.set(tokens.subarray(start, start + blockSize), sample * blockSize);
      targets.set(tokens.subarray(start + 1, start + row), sample * blockSize);
    }
    return { inputs, targets };
  }

  #loaded(): { model: LoadedModel; layout: ParameterLayout } {
    if (!this.#model || !this.#layout) throw new EngineError('internal', 'no model has been loaded');
    return { model: this.#model, layout: this.#layout };
  }

  /** Runs device work to its end; whatever goes wrong meanwhile becomes an EngineError. */
  async #guarded<T>(work: () => T | Promise<T>): Promise<T> {
    this.#throwIfLost();
    let result: T;
    try {
      result = await work();
    } catch (error) {
      throw this.#explain(error);
    }
    // The event loop must turn between passes, or cancellations and heartbeats would wait for the whole task.
    if (this.#gpu) await Promise.race([this.#gpu.idle().catch(() => undefined), this.lost]);
    else await new Promise((resolve) => setTimeout(resolve, 0));
    this.#throwIfLost();
    const failure = this.#gpu?.takeFailures()[0];
    if (failure) throw toEngineError(failure);
    return result;
  }

  /** Reads a tensor and disposes of it, whether the reading succeeds or not. */
  async #take(tensor: tf.Tensor): Promise<Float32Array> {
    try {
      return await this.#read(tensor);
    } finally {
      tensor.dispose();
    }
  }

  async #read(tensor: tf.Tensor): Promise<Float32Array> {
    this.#throwIfLost();
    let values: Float32Array;
    try {
      const outcome = await Promise.race([tensor.data(), this.lost]);
      if (outcome instanceof EngineError) throw outcome;
      values = outcome as Float32Array;
    } catch (error) {
      throw this.#explain(error);
    }
    const failure = this.#gpu?.takeFailures()[0];
    if (failure) throw toEngineError(failure);
    return Float32Array.from(values);
  }

  #throwIfLost(): void {
    if (this.#lostError) throw this.#lostError;
  }

  #explain(error: unknown): EngineError {
    if (error instanceof EngineError) return error;
    if (this.#lostError) return this.#lostError;
    const failure = this.#gpu?.takeFailures()[0];
    if (failure) return toEngineError(failure);
    const message = error instanceof Error ? error.message : String(error);
    const memory =
      error instanceof RangeError || /out of memory|allocat|createBuffer|memory access/i.test(message);
    if (memory) return new EngineError('out-of-memory', `out of memory: ${message}`, { cause: error });
    const shader = /shader|failed to compile|link/i.test(message);
    return new EngineError(shader ? 'shader-compilation' : 'internal', message, { cause: error });
  }

  #release(): void {
    this.#captured?.dispose();
    this.#captured = null;
    tf.dispose(this.#parameters);
    this.#parameters = [];
    this.begin();
  }
}

function checkTokens(tokens: Int32Array, vocabSize: number): void {
  for (const token of tokens) {
    if (token < 0 || token >= vocabSize) {
      throw new EngineError('bad-data', `token ${token} is outside the vocabulary of ${vocabSize}`);
    }
  }
}

function toEngineError(failure: GpuFailure): EngineError {
  switch (failure.kind) {
    case 'lost':
      return new EngineError('device-lost', failure.message);
    case 'out-of-memory':
      return new EngineError('out-of-memory', `the GPU is out of memory: ${failure.message}`);
    case 'shader':
      return new EngineError('shader-compilation', `a GPU shader failed: ${failure.message}`);
    case 'validation':
      return new EngineError('gpu-error', `the GPU reported an error: ${failure.message}`);
  }
}
