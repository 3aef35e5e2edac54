/**
 * Gradients of Sum and Mean that stay on the device: the stock ones multiply by `tf.ones`, which is built on the CPU
 * and uploaded, up to tens of megabytes a step.
 */
import * as tf from '@tensorflow/tfjs';
import type { GradConfig, NamedAttrMap } from '@tensorflow/tfjs-core';

let installed = false;

export function installGradientOverrides(): void {
  if (installed) return;
  installed = true;
  replace('Sum', () => 1);
  replace('Mean', (x, axes) => 1 / axes.reduce((count, axis) => count * (x.shape[axis] as number), 1));
}

function replace(kernelName: string, factor: (x: tf.Tensor, axes: number[]) => number): void {
  const config: GradConfig = {
    kernelName,
    inputsToSave: ['x'],
    gradFunc: (dy, saved, attributes: NamedAttrMap) => {
      const x = saved[0] as tf.Tensor;
      const axes = tf.util.parseAxisParam(
        (attributes['axis'] ?? x.shape.map((_, i) => i)) as number[],
        x.shape,
      );
      return {
        x: () => {
          const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
          const scaled = tf.mul(tf.reshape(dy as tf.Tensor, kept), factor(x, axes));
          return tf.broadcastTo(scaled, x.shape);
        },
      };
    },
  };
  tf.unregisterGradient(kernelName);
  tf.registerGradient(config);
}
