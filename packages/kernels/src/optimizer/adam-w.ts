/**
 * Adam with decoupled weight decay (arXiv 1711.05101, algorithm 2), in place:
 *   m <- beta1 m + (1 - beta1) g
 *   v <- beta2 v + (1 - beta2) g^2
 *   p <- p - learningRate (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon) + weightDecay p)
 * As in PyTorch, the decay is multiplied by the whole learning rate.
 */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTraits, Kernel } from '../kernel/kernel.ts';
import { presentRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { checkSizes, elementwiseKernel, skipUnlessFinite } from './elementwise.ts';
import { isFiniteScalar, scalarAt } from './scalars.ts';

export interface AdamWOptions {
  learningRate: number;
  /** @default 0.9 */
  beta1?: number;
  /** @default 0.999 */
  beta2?: number;
  /** @default 1e-8 */
  epsilon?: number;
  /** @default 0 */
  weightDecay?: number;
}

/** All of one size. On WebGPU their buffers are written, whoever else holds them. */
export interface AdamWState {
  parameter: tf.Variable;
  /** Zero before the first step. */
  firstMoment: tf.Variable;
  secondMoment: tf.Variable;
}

/**
 * What one step needs, worked out in float64, as the float32 [8] that `adamW` takes.
 * @param step counts from 1. @throws RangeError where it does not.
 */
export function adamWScalars(options: AdamWOptions, step: number): Float32Array {
  if (!(step >= 1)) throw new RangeError(`steps of AdamW count from 1, this is ${step}`);
  const { learningRate, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weightDecay = 0 } = options;
  return Float32Array.of(
    beta1,
    1 - beta1,
    beta2,
    1 - beta2,
    epsilon,
    learningRate / (1 - beta1 ** step),
    1 / (1 - beta2 ** step),
    learningRate * weightDecay,
  );
}

/** gradient [size], scalars [8], factor [1]; parameter, m and v [size] in place. */
export function adamWKernel(size: number, traits: DeviceTraits): Kernel {
  return elementwiseKernel(
    {
      name: 'adam-w',
      size,
      reads: ['gradient'],
      small: ['scalars : array<f32>', 'factor : array<f32>'],
      writes: ['parameter', 'first', 'second'],
      flops: 16,
      before: skipUnlessFinite,
      each: `    let g = gradient[i] * factor[0];
    let m = first[i] * scalars[0] + g * scalars[1];
    let v = second[i] * scalars[2] + g * g * scalars[3];
    let p = parameter[i];
    first[i] = m;
    second[i] = v;
    parameter[i] = p - (m * scalars[5] / (sqrt(v * scalars[6]) + scalars[4]) + p * scalars[7]);`,
    },
    traits,
  );
}

/**
 * One step. Nothing is read back; where the factor is not finite, nothing changes.
 * @param gradient of the parameter's size. @param scalars `adamWScalars` as a tensor [8].
 * @param factor [1], by which the gradient is multiplied first.
 */
export function adamW(state: AdamWState, gradient: tf.Tensor, scalars: tf.Tensor, factor: tf.Tensor): void {
  const { parameter, firstMoment, secondMoment } = state;
  checkSizes('adamW', parameter, firstMoment, secondMoment, gradient);
  const runtime = presentRuntime();
  if (runtime && switchedOn('adam-w')) {
    const kernel = adamWKernel(parameter.size, runtime.traits);
    runtime.runInto(kernel, [gradient, scalars, factor], [parameter, firstMoment, secondMoment]);
    return;
  }
  tf.tidy(() => {
    const at = (index: number) => scalarAt(scalars, index);
    const g = tf.mul(gradient.reshape(parameter.shape), scalarAt(factor, 0));
    const m = tf.add(tf.mul(firstMoment, at(0)), tf.mul(g, at(1)));
    const v = tf.add(tf.mul(secondMoment, at(2)), tf.mul(tf.square(g), at(3)));
    const update = tf.div(tf.mul(m, at(5)), tf.add(tf.sqrt(tf.mul(v, at(6))), at(4)));
    const p = tf.sub(parameter, tf.add(update, tf.mul(parameter, at(7))));
    const finite = isFiniteScalar(factor);
    firstMoment.assign(tf.where(finite, m, firstMoment));
    secondMoment.assign(tf.where(finite, v, secondMoment));
    parameter.assign(tf.where(finite, p, parameter));
  });
}
