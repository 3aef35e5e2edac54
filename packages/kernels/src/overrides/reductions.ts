/**
 * Sums, means, extremes and softmax of TensorFlow.js on our kernels. The stock reductions go through workgroup memory
 * whatever the shape, which a software adapter takes hundreds of milliseconds for, and transpose the input first where
 * the axes are not the last ones; the stock softmax writes out of bounds beyond 65,535 rows.
 */
import * as tf from '@tensorflow/tfjs';
import type { TensorInfo } from '@tensorflow/tfjs-core';
import { presentRuntime, type KernelRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import {
  reduceChunks,
  reduceKernels,
  reduceName,
  type Reduction,
  type ReduceShape,
} from '../reduce/reduce.ts';
import { softmaxKernel, softmaxName } from '../reduce/softmax.ts';
import { compose, overrideKernel } from './override.ts';

export function installReductions(): void {
  replaceReduction('Sum', 'sum');
  replaceReduction('Mean', 'mean');
  replaceReduction('Max', 'max');
  replaceReduction('Min', 'min');
  replaceSoftmax();
}

interface ReductionAttributes {
  axis?: number | number[];
  reductionIndices?: number | number[];
  keepDims?: boolean;
}

function replaceReduction(kernelName: string, operation: Reduction): void {
  overrideKernel(kernelName, 'webgpu', (original) => (parameters) => {
    const { x } = parameters.inputs as { x: TensorInfo };
    const { axis, reductionIndices, keepDims } = parameters.attrs as unknown as ReductionAttributes;
    const runtime = presentRuntime();
    const plain = x.dtype === 'float32' && tf.util.sizeFromShape(x.shape) > 0;
    if (!runtime || !plain || !switchedOn(reduceName)) return original(parameters);
    const axes = tf.util.parseAxisParam((axis ?? reductionIndices) as number[], x.shape);
    const shape = keepDims
      ? x.shape.map((size, i) => (axes.includes(i) ? 1 : size))
      : x.shape.filter((_, i) => !axes.includes(i));
    return reduceAxes(runtime, { operation, x, axes, shape });
  });
}

/** Each run of neighbouring axes is one reduction, from the last to the first. */
function reduceAxes(
  runtime: KernelRuntime,
  { operation, x, axes, shape }: { operation: Reduction; x: TensorInfo; axes: number[]; shape: number[] },
): TensorInfo {
  const groups = reducedGroups(x.shape, axes);
  const work = groups.flatMap((group) => {
    const kernels = reduceKernels(operation, group, runtime.traits);
    const between = [group.outer, reduceChunks(group, runtime.traits), group.inner];
    return kernels.map((kernel, i) => ({
      kernel,
      shape: i < kernels.length - 1 ? between : [group.outer, group.inner],
    }));
  });
  let from = x;
  work.forEach((pass, i) => {
    const into = runtime.backend.makeTensorInfo(i === work.length - 1 ? shape : pass.shape, 'float32');
    runtime.runInto(pass.kernel, [from], [into]);
    if (from !== x) runtime.backend.disposeData(from.dataId);
    from = into;
  });
  return from;
}

/** One reduction at least: over an axis of length 1 where there is nothing to reduce. */
export function reducedGroups(shape: readonly number[], axes: readonly number[]): ReduceShape[] {
  const groups: ReduceShape[] = [];
  let [inner, length] = [1, 1];
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] as number;
    if (size === 1) continue;
    if (axes.includes(axis)) {
      length *= size;
      continue;
    }
    if (length > 1) groups.push({ outer: tf.util.sizeFromShape(shape.slice(0, axis + 1)), length, inner });
    length = 1;
    inner *= size;
  }
  if (length > 1 || groups.length === 0) {
    groups.push(length > 1 ? { outer: 1, length, inner } : { outer: inner, length: 1, inner: 1 });
  }
  return groups;
}

/** Rows that one dispatch of the stock softmax covers without running out of bounds. */
export const softmaxRows = 65_535;

function replaceSoftmax(): void {
  overrideKernel('Softmax', 'webgpu', (original) => (parameters) => {
    const { logits } = parameters.inputs as { logits: TensorInfo };
    const runtime = presentRuntime();
    const size = tf.util.sizeFromShape(logits.shape);
    const columns = logits.shape.at(-1) ?? 1;
    const rows = size / columns;
    if (runtime && logits.dtype === 'float32' && size > 0 && switchedOn(softmaxName)) {
      const output = runtime.backend.makeTensorInfo(logits.shape, 'float32');
      runtime.runInto(softmaxKernel(rows, columns, runtime.traits), [logits], [output]);
      return output;
    }
    if (!(rows > softmaxRows)) return original(parameters);
    return compose(parameters.backend, [logits], (x) => {
      const exponentials = tf.exp(tf.sub(x as tf.Tensor, tf.max(x as tf.Tensor, -1, true)));
      return tf.div(exponentials, tf.sum(exponentials, -1, true));
    });
  });
}
