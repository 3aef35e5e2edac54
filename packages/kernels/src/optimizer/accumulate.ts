/** Sums of gradients in place, and their scaling in place. */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTraits, Kernel } from '../kernel/kernel.ts';
import { presentRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { checkSizes, elementwiseKernel } from './elementwise.ts';
import { scalarAt } from './scalars.ts';

/** addend [size]; sum [size] in place. */
export function accumulateKernel(size: number, traits: DeviceTraits): Kernel {
  return elementwiseKernel(
    {
      name: 'accumulate',
      size,
      reads: ['addend'],
      small: [],
      writes: ['sum'],
      flops: 1,
      each: '    sum[i] += addend[i];',
    },
    traits,
  );
}

/** factor [1]; vector [size] in place. */
export function scaleByKernel(size: number, traits: DeviceTraits): Kernel {
  return elementwiseKernel(
    {
      name: 'scale-by',
      size,
      reads: [],
      small: ['factor : array<f32>'],
      writes: ['vector'],
      flops: 1,
      each: '    vector[i] *= factor[0];',
    },
    traits,
  );
}

/** sum += addend, of one size. On WebGPU the buffer of `sum` is written, whoever else holds it. */
export function accumulate(sum: tf.Variable, addend: tf.Tensor): void {
  checkSizes('accumulate', sum, addend);
  const runtime = presentRuntime();
  if (runtime && switchedOn('accumulate')) {
    runtime.runInto(accumulateKernel(sum.size, runtime.traits), [addend], [sum]);
    return;
  }
  tf.tidy(() => sum.assign(tf.add(sum, addend.reshape(sum.shape))));
}

/** vector *= factor [1]. On WebGPU the buffer of `vector` is written, whoever else holds it. */
export function scaleBy(vector: tf.Variable, factor: tf.Tensor): void {
  const runtime = presentRuntime();
  if (runtime && switchedOn('scale-by')) {
    runtime.runInto(scaleByKernel(vector.size, runtime.traits), [factor], [vector]);
    return;
  }
  tf.tidy(() => vector.assign(tf.mul(vector, scalarAt(factor, 0))));
}
