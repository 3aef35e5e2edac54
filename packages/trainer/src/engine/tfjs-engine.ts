/**
 * The engine on TensorFlow.js with the operations of `@tabweave/kernels`: as captured steps on WebGPU, operation by
 * operation elsewhere and where a step cannot be captured.
 */
import {
  capturedStepName,
  crossEntropySum,
  measureProfile,
  switchedOn,
  testKernels,
  type WebGpuDevice,
} from '@tabweave/kernels';
import {
  gpt2Layout,
  type DeviceProfile,
  type DeviceReport,
  type Encoding,
  type ParameterLayout,
  type SelfTestReport,
} from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { setUpBackend, type BackendOptions } from './backend.ts';
import { CapturedPasses } from './captured-passes.ts';
import { DeviceGuard } from './device-guard.ts';
import { EngineError, type EncodedSum, type Engine, type GradientSum, type LoadedModel } from './engine.ts';
import { ErrorFeedback } from './error-feedback.ts';
import { DeviceExport } from './gradient-export.ts';
import { gpt2Logits } from './gpt2.ts';
import { OpPasses } from './op-passes.ts';
import type { LossFunction, PassKind, Passes } from './passes.ts';
import { SlackTuner, type TileStore } from './slack-tuner.ts';
import { checkTokens, splitTokens } from './token-batch.ts';

export interface EngineOptions extends BackendOptions {
  /** On WebGPU: replay recorded steps (the default) instead of running operation by operation. */
  captured?: boolean;
  /** On WebGPU: encode gradients on the device; by default where that is a GPU. */
  packOnDevice?: boolean;
  /** On WebGPU: look for faster products between contributions (the default). */
  tune?: boolean;
  /** Keeps what has been measured of this device's products. */
  tiles?: TileStore;
}

/** @throws Error in words when no back end can be used. */
export async function createEngine(options: EngineOptions): Promise<Engine> {
  const { report, gpu } = await setUpBackend(options);
  const tuner =
    gpu && (options.tune ?? true) ? new SlackTuner(gpu.kernels, report.adapter, options.tiles) : null;
  await tuner?.recall();
  return new TfjsEngine(report, gpu, tuner, options);
}

interface Loaded {
  readonly model: LoadedModel;
  readonly layout: ParameterLayout;
  readonly passes: Passes;
}

class TfjsEngine implements Engine {
  readonly report: DeviceReport;
  readonly #gpu: WebGpuDevice | null;
  readonly #guard: DeviceGuard;
  readonly #feedback = new ErrorFeedback();
  readonly #export: DeviceExport | null;
  readonly #tuner: SlackTuner | null;
  /** False once a step could not be recorded. */
  #capture: boolean;
  #loaded: Loaded | null = null;
  /** False until parameters have come for what has been prepared. */
  #filled = false;
  /** Shapes that have run to the end. */
  readonly #warm = new Set<string>();
  #presentShape = '';
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    report: DeviceReport,
    gpu: WebGpuDevice | null,
    tuner: SlackTuner | null,
    options: EngineOptions,
  ) {
    this.report = report;
    this.#gpu = gpu;
    this.#tuner = tuner;
    this.#capture = gpu !== null && (options.captured ?? true);
    const packs = options.packOnDevice ?? gpu?.software === false;
    this.#export = gpu && packs ? new DeviceExport(gpu.kernels) : null;
    this.#guard = new DeviceGuard(gpu);
  }

  get lost(): Promise<EngineError> {
    return this.#guard.lost;
  }

  get cold(): boolean {
    return !this.#warm.has(this.#presentShape);
  }

  testKernels(): Promise<SelfTestReport['switchedOff']> {
    const gpu = this.#gpu;
    if (!gpu) return Promise.resolve([]);
    return this.#inTurn(() => this.#guard.run(() => testKernels(gpu)));
  }

  measure(): Promise<DeviceProfile | null> {
    const gpu = this.#gpu;
    if (!gpu) return Promise.resolve(null);
    return this.#inTurn(() => this.#guard.run(() => measureProfile(gpu.kernels)));
  }

  prepare(model: LoadedModel, samples: number): Promise<void> {
    return this.#inTurn(async () => {
      if (!(samples >= 1)) throw new EngineError('bad-data', `${samples} samples for a pass`);
      const { passes } = await this.#orRelease(() => this.#setUp(model));
      try {
        await this.#guard.run(() => passes.prepare('train', samples));
      } catch (error) {
        this.#giveUp(() => passes.discard('train', samples));
        throw error;
      }
    });
  }

  load(model: LoadedModel, parameters: Float32Array): Promise<void> {
    return this.#inTurn(() => this.#load(model, parameters));
  }

  accumulate(tokens: Int32Array, samples: number): Promise<void> {
    return this.#inTurn(() => this.#accumulate(tokens, samples));
  }

  evaluate(tokens: Int32Array, samples: number): Promise<number> {
    return this.#inTurn(() => this.#evaluate(tokens, samples));
  }

  async #load(model: LoadedModel, parameters: Float32Array): Promise<void> {
    const layout = gpt2Layout(model.config);
    if (parameters.length !== layout.size) {
      throw new EngineError('bad-data', `${parameters.length} parameters for a model of ${layout.size}`);
    }
    await this.#orRelease(() => {
      const { passes } = this.#setUp(model);
      passes.load(layout.tensors.map(({ offset, size }) => parameters.slice(offset, offset + size)));
    });
    this.#filled = true;
  }

  /** Device work that makes or fills the passes: where it fails they are not to be used, and the next try starts afresh. */
  async #orRelease<T>(work: () => T): Promise<T> {
    try {
      return await this.#guard.run(work);
    } catch (error) {
      if ((error as EngineError).reason !== 'bad-data') this.#giveUp(() => this.#release());
      throw error;
    }
  }

  /** Lets go of what a failure may have broken, the back end's spare buffers included. */
  #giveUp(release: () => void): void {
    if (this.#guard.isLost) return;
    release();
    this.#gpu?.dropFreeBuffers();
  }

  begin(): void {
    this.#loaded?.passes.begin();
  }

  async #accumulate(tokens: Int32Array, samples: number): Promise<void> {
    const batch = splitTokens(this.#present().model, tokens, samples);
    this.#presentShape = `train ${samples}`;
    const passes = await this.#ready('train', samples);
    const began = performance.now();
    const flops = await this.#guard.run(() => passes.train(batch));
    const milliseconds = performance.now() - began;
    this.#gpu?.kernels.pacing.learn(flops, milliseconds);
    this.#tuner?.worked(milliseconds);
    this.#warm.add(this.#presentShape);
  }

  finish(): Promise<GradientSum> {
    return this.#inTurn(async () => {
      const sum = await this.#finish();
      await this.#tune();
      return sum;
    });
  }

  async #finish(): Promise<GradientSum> {
    const { layout } = this.#present();
    const packed = await this.#guard.run(
      () =>
        tf.tidy(() => {
          const { gradient, loss } = this.#sums();
          return tf.concat1d([gradient, tf.reshape(loss, [1])]);
        }),
      (tensor) => tensor.dispose(),
    );
    const values = await this.#guard.take(packed);
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

  finishEncoded(model: string, encoding: Encoding): Promise<EncodedSum> {
    return this.#inTurn(async () => {
      const sum = await this.#finishEncoded(model, encoding);
      await this.#tune();
      return sum;
    });
  }

  async #finishEncoded(model: string, encoding: Encoding): Promise<EncodedSum> {
    const { layout } = this.#present();
    if (encoding === 'float32' || !this.#export?.fits(layout.size, encoding)) {
      const { lossSum, gradientSum } = await this.#finish();
      return { lossSum, ...this.#feedback.encode(model, gradientSum, encoding) };
    }
    const device = this.#export;
    const sums = await this.#guard.run(
      () => this.#sums(),
      ({ gradient, loss }) => tf.dispose([gradient, loss]),
    );
    const encoded = await device.encode(
      model,
      sums,
      encoding,
      async (tensor) => (await this.#guard.read(tensor)) as Int32Array,
    );
    this.begin();
    if (!Number.isFinite(encoded.lossSum)) {
      throw new EngineError('non-finite', `the loss is ${encoded.lossSum}`);
    }
    return encoded;
  }

  async #evaluate(tokens: Int32Array, samples: number): Promise<number> {
    const batch = splitTokens(this.#present().model, tokens, samples);
    this.#presentShape = `evaluate ${samples}`;
    const passes = await this.#ready('evaluate', samples);
    const loss = await this.#guard.run(
      () => passes.evaluate(batch),
      (tensor) => tensor.dispose(),
    );
    const [value] = await this.#guard.take(loss);
    if (!Number.isFinite(value)) throw new EngineError('non-finite', `the loss is ${value}`);
    this.#warm.add(this.#presentShape);
    return value as number;
  }

  logits(ids: Int32Array): Promise<Float32Array> {
    return this.#inTurn(() => this.#logits(ids));
  }

  async #logits(ids: Int32Array): Promise<Float32Array> {
    const { model, passes } = this.#present();
    const { config } = model;
    if (ids.length === 0 || ids.length > config.positions) {
      throw new EngineError('bad-data', `${ids.length} tokens for ${config.positions} positions`);
    }
    checkTokens(ids, config.vocabSize);
    const last = await this.#guard.run(() =>
      tf.tidy(() => {
        const padded = new Int32Array(paddedLength(ids.length, config.positions));
        padded.set(ids);
        // No token sees those after it: what fills up changes nothing before.
        const logits = gpt2Logits(config, passes.parameters, tf.tensor1d(padded, 'int32'), 1, padded.length);
        return tf.reshape(tf.slice(logits, [ids.length - 1, 0], [1, config.vocabSize]), [config.vocabSize]);
      }),
    );
    return this.#guard.take(last);
  }

  memoryBytes(): number {
    if (!this.#gpu) return tf.memory().numBytes;
    return this.#gpu.allocatedBytes() + (this.#loaded?.passes.bytes ?? 0);
  }

  dispose(): void {
    if (!this.#guard.isLost) this.#release();
    this.#gpu?.dispose();
  }

  /** One thing at a time: a preparation may still run when parameters have come. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /** Between contributions; whatever goes wrong here leaves the choices as they were. */
  async #tune(): Promise<void> {
    const passes = this.#loaded?.passes;
    if (!(passes instanceof CapturedPasses)) return;
    try {
      await this.#guard.run(() => this.#tuner?.tune(() => passes.recordAgain()));
    } catch {
      this.#giveUp(() => passes.forget());
    }
  }

  /** Passes of a model, those present where it is the same one. */
  #setUp(model: LoadedModel): Loaded {
    const { config, blockSize } = model;
    if (blockSize > config.positions) {
      throw new EngineError('bad-data', `${blockSize} tokens for ${config.positions} positions`);
    }
    if (this.#loaded && JSON.stringify(this.#loaded.model) === JSON.stringify(model)) return this.#loaded;
    this.#release();
    // Another model has other shapes, which are yet to be compiled.
    this.#warm.clear();
    this.#loaded = this.#newPasses(model);
    return this.#loaded;
  }

  #newPasses(model: LoadedModel): Loaded {
    const { config, blockSize } = model;
    const layout = gpt2Layout(config);
    const loss: LossFunction = (parameters, ids, labels, samples) =>
      crossEntropySum(gpt2Logits(config, parameters, ids, samples, blockSize), labels, 1 / blockSize);
    const passes =
      this.#gpu && this.#capture && switchedOn(capturedStepName)
        ? new CapturedPasses(this.#gpu.kernels, layout, blockSize, loss)
        : new OpPasses(layout, loss);
    return { model, layout, passes };
  }

  /** Where a step cannot be recorded, this and all that follow run operation by operation. */
  async #ready(kind: PassKind, samples: number): Promise<Passes> {
    const { passes, model } = this.#present();
    try {
      await this.#guard.run(() => passes.prepare(kind, samples));
      return passes;
    } catch (error) {
      const reason = (error as EngineError).reason;
      this.#giveUp(() => passes.discard(kind, samples));
      if (!(passes instanceof CapturedPasses) || (reason !== 'internal' && reason !== 'shader-compilation')) {
        throw error;
      }
      this.#capture = false;
      // A contribution that has begun is lost with its sums; what comes next is not.
      const values = this.#filled && !passes.begun ? await this.#parameterValues(passes) : null;
      this.#release();
      this.#loaded = this.#newPasses(model);
      if (!values) throw error;
      this.#loaded.passes.load(values);
      this.#filled = true;
      return this.#loaded.passes;
    }
  }

  #parameterValues(passes: Passes): Promise<Float32Array<ArrayBuffer>[]> {
    return Promise.all(
      passes.parameters.map(async (tensor) => Float32Array.from(await this.#guard.read(tensor))),
    );
  }

  #sums(): { gradient: tf.Tensor1D; loss: tf.Tensor } {
    return this.#present().passes.sums();
  }

  #present(): Loaded {
    if (!this.#loaded || !this.#filled) throw new EngineError('internal', 'no model has been loaded');
    return this.#loaded;
  }

  #release(): void {
    this.#loaded?.passes.dispose();
    this.#export?.reset();
    this.#loaded = null;
    this.#filled = false;
  }
}

/** Few lengths, since each is compiled by itself on WebGPU. */
function paddedLength(length: number, positions: number): number {
  return Math.min(positions, Math.max(16, 2 ** Math.ceil(Math.log2(length))));
}
