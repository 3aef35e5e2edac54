/** Work on a device that may fail or go away meanwhile: whatever goes wrong becomes an EngineError. */
import type { GpuFailure, WebGpuDevice } from '@tabweave/kernels';
import type * as tf from '@tensorflow/tfjs';
import { EngineError } from './engine.ts';

export class DeviceGuard {
  /** Resolves, once, when the device is gone; never without a GPU. */
  readonly lost: Promise<EngineError>;
  readonly #gpu: WebGpuDevice | null;
  #lostError: EngineError | null = null;

  constructor(gpu: WebGpuDevice | null) {
    this.#gpu = gpu;
    this.lost = gpu
      ? gpu.lost.then((failure) => {
          this.#lostError = toEngineError(failure);
          return this.#lostError;
        })
      : new Promise(() => undefined);
  }

  get isLost(): boolean {
    return this.#lostError !== null;
  }

  /**
   * Runs device work to its end.
   * @param discard gives up what the work has made, where the device has failed meanwhile.
   */
  async run<T>(work: () => T | Promise<T>, discard?: (result: T) => void): Promise<T> {
    this.#throwIfLost();
    let result: T;
    try {
      result = await this.#orLost(Promise.resolve(work()));
    } catch (error) {
      throw await this.#explain(error);
    }
    // The event loop must turn between passes, or cancellations and heartbeats would wait for the whole task.
    if (this.#gpu) await Promise.race([this.#gpu.idle().catch(() => undefined), this.lost]);
    else await new Promise((resolve) => setTimeout(resolve, 0));
    try {
      await this.#check();
    } catch (error) {
      if (!this.isLost) {
        discard?.(result);
        // The discarded buffers may be no buffers at all, and must not be handed out again.
        this.#gpu?.dropFreeBuffers();
      }
      throw error;
    }
    return result;
  }

  async read(tensor: tf.Tensor): Promise<Float32Array | Int32Array> {
    this.#throwIfLost();
    let values: Float32Array | Int32Array;
    try {
      values = (await this.#orLost(tensor.data())) as Float32Array | Int32Array;
    } catch (error) {
      throw await this.#explain(error);
    }
    await this.#check();
    return values;
  }

  /** Reads a tensor of floats and disposes of it, whether the reading succeeds or not. */
  async take(tensor: tf.Tensor): Promise<Float32Array<ArrayBuffer>> {
    try {
      return Float32Array.from(await this.read(tensor));
    } finally {
      tensor.dispose();
    }
  }

  async #orLost<T>(work: Promise<T>): Promise<T> {
    const outcome = await Promise.race([work, this.lost]);
    if (outcome === this.#lostError && this.#lostError) throw this.#lostError;
    return outcome as T;
  }

  async #check(): Promise<void> {
    this.#throwIfLost();
    const failure = await this.#failure();
    this.#throwIfLost();
    if (failure) throw toEngineError(failure);
  }

  async #failure(): Promise<GpuFailure | undefined> {
    const failures = await Promise.race([this.#gpu?.takeFailures(), this.lost]);
    return Array.isArray(failures) ? failures[0] : undefined;
  }

  #throwIfLost(): void {
    if (this.#lostError) throw this.#lostError;
  }

  async #explain(error: unknown): Promise<EngineError> {
    if (error instanceof EngineError) return error;
    if (this.#lostError) return this.#lostError;
    const failure = await this.#failure();
    if (this.#lostError) return this.#lostError;
    if (failure) return toEngineError(failure);
    const message = error instanceof Error ? error.message : String(error);
    const memory =
      error instanceof RangeError || /out of memory|allocat|createBuffer|memory access/i.test(message);
    if (memory) return new EngineError('out-of-memory', `out of memory: ${message}`, { cause: error });
    const shader = /shader|failed to compile|link/i.test(message);
    return new EngineError(shader ? 'shader-compilation' : 'internal', message, { cause: error });
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
