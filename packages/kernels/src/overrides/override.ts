/** Replacing a kernel of a back end while keeping the original at hand. */
import * as tf from '@tensorflow/tfjs';
import type { KernelFunc } from '@tensorflow/tfjs-core';

const replaced = new Set<string>();

/** Replaces `kernelName` on `backendName` once; `make` gets the original. Nothing happens where there is none. */
export function overrideKernel(
  kernelName: string,
  backendName: string,
  make: (original: KernelFunc) => KernelFunc,
): void {
  const key = `${backendName} ${kernelName}`;
  const kernel = tf.getKernel(kernelName, backendName);
  if (!kernel || replaced.has(key)) return;
  replaced.add(key);
  tf.unregisterKernel(kernelName, backendName);
  tf.registerKernel({ ...kernel, kernelFunc: make(kernel.kernelFunc) });
}

/** Runs TensorFlow.js operations inside a kernel function and gives their result as the kernel's. */
export function compose(operation: () => tf.Tensor): tf.TensorInfo {
  return tf.tidy(operation);
}

/** A tensor over the data of a kernel's input, counted as a reference of its own. */
export function asTensor(info: tf.TensorInfo): tf.Tensor {
  return tf.engine().makeTensorFromTensorInfo(info);
}
