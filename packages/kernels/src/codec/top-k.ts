/**
 * The k largest magnitudes of a vector with their places, for sparse gradients (Aji & Heafield, arXiv 1704.05021).
 * Of equal magnitudes the lowest indices are taken; NaN counts as larger than infinity. The same on every device.
 */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { presentRuntime, type KernelRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import {
  bins,
  chunks,
  collectKernel,
  histogramKernel,
  scanKernel,
  settleKernel,
  startKernel,
  stateSize,
  tallyKernel,
} from './top-k-kernels.ts';

export interface TopKTensors {
  /** int32 [k], ascending. */
  indices: tf.Tensor1D;
  /** float32 [k], with their signs. */
  values: tf.Tensor1D;
}

export interface TopK {
  indices: Int32Array;
  values: Float32Array;
}

/** Entries of a TensorFlow.js tensor per chunk of the tallies. */
const tally = 2;

/**
 * On the device; nothing is read back. Which code is written depends on `traits`, what comes out does not.
 * @param vector [n] float32. @throws RangeError unless 1 <= k <= n.
 */
export function topKTensors(
  runtime: KernelRuntime,
  vector: tf.Tensor1D,
  k: number,
  traits: DeviceTraits = runtime.traits,
): TopKTensors {
  checkCount(k, vector.size);
  const { size } = vector;
  const [state, histogram] = runtime.run(
    startKernel(k),
    [],
    [
      { shape: [stateSize], dtype: 'int32' },
      { shape: [bins], dtype: 'int32' },
    ],
  ) as [tf.Tensor, tf.Tensor];
  for (const byte of [3, 2, 1, 0]) {
    runtime.runInto(histogramKernel(size, byte, traits), [vector, state], [histogram]);
    runtime.runInto(settleKernel(byte, traits), [], [state, histogram]);
  }
  const tallies = runtime.run(
    tallyKernel(size, traits),
    [vector, state],
    [{ shape: [chunks(size) * tally], dtype: 'int32' }],
  )[0] as tf.Tensor;
  runtime.runInto(scanKernel(size, traits), [], [tallies]);
  const [indices, values] = runtime.run(
    collectKernel(size, k, traits),
    [vector, state, tallies],
    [{ shape: [k], dtype: 'int32' }, { shape: [k] }],
  ) as [tf.Tensor1D, tf.Tensor1D];
  tf.dispose([state, histogram, tallies]);
  return { indices, values };
}

/** On whatever back end is present; elsewhere than on WebGPU the whole vector is read. @throws RangeError unless 1 <= k <= n. */
export async function topK(vector: tf.Tensor1D, k: number): Promise<TopK> {
  const runtime = presentRuntime();
  if (!runtime || !switchedOn('top-k')) return topKOf((await vector.data()) as Float32Array, k);
  const { indices, values } = topKTensors(runtime, vector, k);
  const [places, found] = await Promise.all([indices.data(), values.data()]);
  tf.dispose([indices, values]);
  return { indices: places as Int32Array, values: found as Float32Array };
}

/** The same of numbers on the CPU. @throws RangeError unless 1 <= k <= n. */
export function topKOf(vector: Float32Array, k: number): TopK {
  checkCount(k, vector.length);
  const bits = new Uint32Array(vector.buffer, vector.byteOffset, vector.length).map((b) => b & 0x7fff_ffff);
  const threshold = bits.toSorted()[bits.length - k] as number;
  let equal = k - bits.reduce((count, b) => count + (b > threshold ? 1 : 0), 0);
  const indices = new Int32Array(k);
  let taken = 0;
  bits.forEach((b, i) => {
    if (b > threshold || (b === threshold && equal-- > 0)) indices[taken++] = i;
  });
  return { indices, values: Float32Array.from(indices, (i) => vector[i] as number) };
}

function checkCount(k: number, size: number): void {
  if (!Number.isInteger(k) || k < 1 || k > size) {
    throw new RangeError(`of ${size} values, not the ${k} largest can be taken`);
  }
}
