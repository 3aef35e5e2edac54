/**
 * A contribution on its way out: the gradient sum encoded for the wire, with error feedback. On a GPU it is packed where
 * it lies and the residual never leaves; where the "device" is the CPU, the CPU's own code is faster.
 */
import {
  packedBytes,
  packedFinite,
  packedWords,
  packGradient,
  switchedOn,
  type KernelRuntime,
} from '@tabweave/kernels';
import type { Encoding } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';
import { EngineError, type EncodedSum } from './engine.ts';

/** Contributions that may be on their way at one time. */
const unanswered = 2;

export class DeviceExport {
  readonly #runtime: KernelRuntime;
  #model = '';
  #residual: tf.Tensor1D | null = null;
  /** Of contributions that the server has not answered, the newest last. */
  #open: tf.Tensor1D[] = [];

  constructor(runtime: KernelRuntime) {
    this.#runtime = runtime;
  }

  /** Whether a gradient of so many elements can be packed here. */
  fits(elements: number, encoding: Encoding): boolean {
    return (
      encoding !== 'float32' &&
      switchedOn(`pack-${encoding}`) &&
      4 * elements <= this.#runtime.traits.maxBindingBytes
    );
  }

  /**
   * Packs and reads back, packed bytes and the loss in one.
   * @param gradient, loss are disposed of. @param read resolves to the tensor's values, or rejects with the device's end.
   * @throws EngineError `non-finite`.
   */
  async encode(
    model: string,
    { gradient, loss }: { gradient: tf.Tensor1D; loss: tf.Tensor },
    encoding: Exclude<Encoding, 'float32'>,
    read: (tensor: tf.Tensor) => Promise<Int32Array>,
  ): Promise<EncodedSum> {
    if (this.#model !== model) this.reset();
    this.#model = model;
    const elements = gradient.size;
    const words = packedWords(elements, encoding);
    const packed = packGradient(this.#runtime, gradient, this.#residual, encoding);
    const both = this.#runtime.empty([words + 1], 'int32');
    this.#runtime.copyInto(both, [packed.words, loss], [0, words]);
    tf.dispose([gradient, loss, packed.words]);
    try {
      const values = await read(both);
      const lossSum = new Float32Array(values.slice(words).buffer)[0] as number;
      const bytes = packedBytes(values, elements, encoding).slice();
      if (!packedFinite(bytes, elements, encoding)) {
        throw new EngineError(
          'non-finite',
          `the gradient has values not finite, or too large for ${encoding}`,
        );
      }
      this.#remember(packed.residual);
      return { lossSum, bytes, accepted: () => this.#keep(packed.residual) };
    } catch (error) {
      packed.residual.dispose();
      throw error;
    } finally {
      both.dispose();
    }
  }

  reset(): void {
    tf.dispose([...this.#open, ...(this.#residual ? [this.#residual] : [])]);
    this.#open = [];
    this.#residual = null;
    this.#model = '';
  }

  /** A contribution that is refused is never heard of again: what is left of the oldest goes. */
  #remember(residual: tf.Tensor1D): void {
    this.#open.push(residual);
    while (this.#open.length > unanswered) this.#open.shift()?.dispose();
  }

  #keep(residual: tf.Tensor1D): void {
    if (!this.#open.includes(residual)) return;
    this.#open = this.#open.filter((other) => other !== residual);
    this.#residual?.dispose();
    this.#residual = residual;
  }
}
