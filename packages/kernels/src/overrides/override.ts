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

interface Counted {
  incRef(dataId: object): void;
}

/**
 * Runs TensorFlow.js operations inside a kernel function and gives their result as the kernel's. Kernel inputs and
 * outputs are bare references to data, which tensors would free at the end of their scope: each is counted once more.
 */
export function compose(
  backend: unknown,
  inputs: readonly tf.TensorInfo[],
  operation: (...tensors: tf.Tensor[]) => tf.Tensor,
): tf.TensorInfo {
  const counted = backend as Counted;
  const result = tf.tidy(() => {
    const tensors = inputs.map((info) => {
      counted.incRef(info.dataId);
      return tf.engine().makeTensorFromTensorInfo(info);
    });
    return operation(...tensors);
  });
  counted.incRef(result.dataId);
  const { dataId, shape, dtype } = result;
  result.dispose();
  return { dataId, shape, dtype };
}
