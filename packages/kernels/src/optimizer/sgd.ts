/**
 * Stochastic gradient descent with momentum (Sutskever et al. 2013, in the form that PyTorch gives it), in place:
 *   g <- g + weightDecay p;  b <- momentum b + g;  p <- p - learningRate d
 * where d is b, or with Nesterov's momentum g + momentum b, or without momentum g.
 */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTraits, Kernel } from '../kernel/kernel.ts';
import { presentRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { checkSizes, elementwiseKernel, skipUnlessFinite } from './elementwise.ts';
import { isFiniteScalar, scalarAt } from './scalars.ts';

export type Momentum = 'none' | 'heavy-ball' | 'nesterov';

export interface SgdOptions {
  learningRate: number;
  /** @default 0 */
  momentum?: number;
  /** Not decoupled: it goes through the momentum. @default 0 */
  weightDecay?: number;
}

/** On WebGPU the buffers are written, whoever else holds them. */
export interface SgdState {
  parameter: tf.Variable;
  /** Of the parameter's size, zero before the first step; null for descent without momentum. */
  velocity: tf.Variable | null;
}

/** The float32 [3] that `sgd` takes. */
export function sgdScalars({ learningRate, momentum = 0, weightDecay = 0 }: SgdOptions): Float32Array {
  return Float32Array.of(learningRate, momentum, weightDecay);
}

/** gradient [size], scalars [3], factor [1]; parameter (and velocity) [size] in place. */
export function sgdKernel(size: number, traits: DeviceTraits, momentum: Momentum): Kernel {
  const none = momentum === 'none';
  return elementwiseKernel(
    {
      name: 'sgd',
      variant: momentum,
      size,
      reads: ['gradient'],
      small: ['scalars : array<f32>', 'factor : array<f32>'],
      writes: none ? ['parameter'] : ['parameter', 'velocity'],
      flops: 8,
      before: skipUnlessFinite,
      each: `    let p = parameter[i];
    let g = gradient[i] * factor[0] + p * scalars[2];
    ${none ? '' : 'let b = velocity[i] * scalars[1] + g; velocity[i] = b;'}
    parameter[i] = p - ${{ none: 'g', 'heavy-ball': 'b', nesterov: '(g + b * scalars[1])' }[momentum]} * scalars[0];`,
    },
    traits,
  );
}

/**
 * One step. Nothing is read back; where the factor is not finite, nothing changes.
 * @param gradient of the parameter's size. @param scalars `sgdScalars` as a tensor [3].
 * @param factor [1], by which the gradient is multiplied first.
 */
export function sgd(
  { parameter, velocity }: SgdState,
  gradient: tf.Tensor,
  scalars: tf.Tensor,
  { factor, nesterov = false }: { factor: tf.Tensor; nesterov?: boolean },
): void {
  checkSizes('sgd', parameter, gradient, ...(velocity ? [velocity] : []));
  const runtime = presentRuntime();
  if (runtime && switchedOn('sgd')) {
    const momentum = !velocity ? 'none' : nesterov ? 'nesterov' : 'heavy-ball';
    const outputs = velocity ? [parameter, velocity] : [parameter];
    const kernel = sgdKernel(parameter.size, runtime.traits, momentum);
    runtime.runInto(kernel, [gradient, scalars, factor], outputs);
    return;
  }
  tf.tidy(() => {
    const [rate, momentum, decay] = [0, 1, 2].map((i) => scalarAt(scalars, i)) as [
      tf.Tensor,
      tf.Tensor,
      tf.Tensor,
    ];
    const finite = isFiniteScalar(factor);
    const scaled = tf.mul(gradient.reshape(parameter.shape), scalarAt(factor, 0));
    const g = tf.add(scaled, tf.mul(parameter, decay));
    let direction = g;
    if (velocity) {
      const b = tf.add(tf.mul(velocity, momentum), g);
      direction = nesterov ? tf.add(g, tf.mul(b, momentum)) : b;
      velocity.assign(tf.where(finite, b, velocity));
    }
    parameter.assign(tf.where(finite, tf.sub(parameter, tf.mul(direction, rate)), parameter));
  });
}
