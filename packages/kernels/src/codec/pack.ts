/**
 * Vectors packed on the device, so that a read-back carries no more bytes than the network will, and unpacked there.
 * Packed words are int32 tensors: TensorFlow.js hands their bits on as they are.
 */
import * as tf from '@tensorflow/tfjs';
import { decodeVector, encodedBytes, encodeVector, int8Block, type Encoding } from '@tabweave/shared';
import { presentRuntime, type KernelRuntime, type OutputSpec } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import type { Feedback } from './feedback.ts';
import { float16Words, packFloat16Kernel, unpackFloat16Kernel } from './float16-kernels.ts';
import { int8Words, packInt8Kernel, unpackInt8Kernel } from './int8-kernels.ts';

export type PackedEncoding = Exclude<Encoding, 'float32'>;

/** 32-bit words of `elements` packed values. */
export function packedWords(elements: number, encoding: PackedEncoding): number {
  return encoding === 'int8' ? int8Words(elements) : float16Words(elements);
}

/** The bytes for the wire among the bytes of the words read back; up to three bytes at their end are filling. */
export function packedBytes(words: Int32Array, elements: number, encoding: PackedEncoding): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, encodedBytes(elements, encoding));
}

/** `bytes` as words, filled up with zeros. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  const words = new Int32Array(Math.ceil(bytes.byteLength / 4));
  new Uint8Array(words.buffer).set(bytes);
  return words;
}

/**
 * Whether all values behind packed bytes are finite: in float16, no half is infinite or NaN (too large a value is
 * infinite); in int8, no scale is.
 */
export function packedFinite(bytes: Uint8Array, elements: number, encoding: PackedEncoding): boolean {
  const words = new Uint32Array(wordsOf(bytes).buffer);
  if (encoding === 'float16') return words.every((word) => !(half(word) || half(word >>> 16)));
  const scales = words.subarray(0, Math.ceil(elements / int8Block));
  return scales.every((scale) => (scale & 0x7f80_0000) !== 0x7f80_0000);
}

function half(bits: number): boolean {
  return (bits & 0x7c00) === 0x7c00;
}

function packKernel(
  { traits }: KernelRuntime,
  elements: number,
  encoding: PackedEncoding,
  feedback: Feedback,
) {
  return encoding === 'int8'
    ? packInt8Kernel(elements, traits, feedback)
    : packFloat16Kernel(elements, traits, feedback);
}

/** [n] float32, n >= 1 -> int32 [packedWords(n)]. */
export function packVector(
  runtime: KernelRuntime,
  vector: tf.Tensor1D,
  encoding: PackedEncoding,
): tf.Tensor1D {
  const kernel = packKernel(runtime, vector.size, encoding, 'none');
  return runtime.run(kernel, [vector], [wordsSpec(vector.size, encoding)])[0] as tf.Tensor1D;
}

/** int32 [packedWords(elements)] -> [elements] float32. */
export function unpackVector(
  runtime: KernelRuntime,
  words: tf.Tensor1D,
  elements: number,
  encoding: PackedEncoding,
): tf.Tensor1D {
  const kernel =
    encoding === 'int8'
      ? unpackInt8Kernel(elements, runtime.traits)
      : unpackFloat16Kernel(elements, runtime.traits);
  return runtime.run(kernel, [words], [{ shape: [elements] }])[0] as tf.Tensor1D;
}

export interface PackedGradient {
  /** int32 [packedWords(n)] */
  words: tf.Tensor1D;
  /** [n]: what the receiver will miss; NaN where the sum is not finite or too large for the encoding. */
  residual: tf.Tensor1D;
}

/**
 * Packs a gradient sum together with the residual of the one before, in one pass.
 * @param sum [n]; @param residual [n], or null for the first. Neither is changed.
 */
export function packGradient(
  runtime: KernelRuntime,
  sum: tf.Tensor1D,
  residual: tf.Tensor1D | null,
  encoding: PackedEncoding,
): PackedGradient {
  const kernel = packKernel(runtime, sum.size, encoding, residual ? 'next' : 'first');
  const outputs = [wordsSpec(sum.size, encoding), { shape: [sum.size] }];
  const [words, left] = runtime.run(kernel, residual ? [sum, residual] : [sum], outputs);
  return { words: words as tf.Tensor1D, residual: left as tf.Tensor1D };
}

function wordsSpec(elements: number, encoding: PackedEncoding): OutputSpec {
  return { shape: [packedWords(elements, encoding)], dtype: 'int32' };
}

export interface EncodedSum {
  bytes: Uint8Array;
  /** [n], to be handed to the next call or disposed of; owned by the caller. */
  residual: tf.Tensor1D;
}

/**
 * `packGradient` on whatever back end is present, read back. Elsewhere than on WebGPU the values are read and encoded
 * on the CPU. Check `packedFinite` before the bytes leave.
 */
export async function encodeGradient(
  sum: tf.Tensor1D,
  residual: tf.Tensor1D | null,
  encoding: PackedEncoding,
): Promise<EncodedSum> {
  const runtime = presentRuntime();
  if (runtime && switchedOn(`pack-${encoding}`)) {
    const packed = packGradient(runtime, sum, residual, encoding);
    const words = (await packed.words.data()) as Int32Array;
    packed.words.dispose();
    return { bytes: packedBytes(words, sum.size, encoding), residual: packed.residual };
  }
  const gradient = Float32Array.from(await sum.data());
  const carried = await residual?.data();
  if (carried) for (let i = 0; i < gradient.length; i++) gradient[i] = at(gradient, i) + at(carried, i);
  const bytes = encodeVector(gradient, encoding);
  const arrived = new Float32Array(gradient.length);
  decodeVector(bytes, encoding, arrived);
  const left = arrived.map((value, i) => at(gradient, i) - value);
  return { bytes, residual: tf.tensor1d(left) };
}

function at(vector: ArrayLike<number>, index: number): number {
  return vector[index] as number;
}

/**
 * Bytes of the wire as a tensor [elements] on whatever back end is present; on WebGPU they are uploaded as they are.
 * @throws RangeError when `bytes` has not the exact length that the encoding needs.
 */
export function decodeToTensor(bytes: Uint8Array, elements: number, encoding: Encoding): tf.Tensor1D {
  const runtime = presentRuntime();
  const exact = bytes.byteLength === encodedBytes(elements, encoding);
  if (exact && runtime && encoding !== 'float32' && switchedOn(`unpack-${encoding}`)) {
    const words = tf.tensor1d(wordsOf(bytes), 'int32');
    const vector = unpackVector(runtime, words, elements, encoding);
    words.dispose();
    return vector;
  }
  const vector = new Float32Array(elements);
  decodeVector(bytes, encoding, vector);
  return tf.tensor1d(vector);
}
