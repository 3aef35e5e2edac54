/** Whether an operation runs on our kernels here, or on its twin. */
import * as tf from '@tensorflow/tfjs';
import { presentRuntime, type KernelRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';

/** The runtime, where all the kernels named work on this device; null sends the operation to its twin. */
export function runtimeFor(...kernels: readonly string[]): KernelRuntime | null {
  const runtime = presentRuntime();
  return runtime && switchedOn(...kernels) ? runtime : null;
}

/** Whether someone will ask for gradients of what is being computed. */
export function gradientsWanted(): boolean {
  const { state } = tf.engine() as unknown as { state: { gradientDepth: number } };
  return state.gradientDepth > 0;
}

/** `tf.customGrad` with types that fit functions of several tensors. */
export function withGradient(
  inputs: readonly tf.Tensor[],
  forward: (save: (tensors: tf.Tensor[]) => void) => tf.Tensor,
  backward: (dy: tf.Tensor, saved: tf.Tensor[]) => tf.Tensor[],
): tf.Tensor {
  const operation = tf.customGrad((...all: (tf.Tensor | tf.GradSaveFunc)[]) => {
    const save = all.at(-1) as tf.GradSaveFunc;
    return { value: forward(save), gradFunc: backward };
  });
  return operation(...inputs);
}
