/**
 * Convolutions and pooling of TensorFlow.js on our kernels. The stock convolutions go through workgroup memory, which a
 * software adapter takes a second for; the stock gradient of a filter adds up all positions in one invocation for each
 * weight; the stock sum with a bias copies the bias to workgroup memory first.
 */
import * as tf from '@tensorflow/tfjs';
import type { KernelFunc, TensorInfo } from '@tensorflow/tfjs-core';
import { convForward, convInputGradient, convInputName, convName } from '../conv/convolution.ts';
import {
  depthwiseChunks,
  depthwiseFilterGradient,
  depthwiseFilterName,
  depthwiseForward,
  depthwiseInputGradient,
  depthwiseInputName,
  depthwiseName,
} from '../conv/depthwise.ts';
import { convFilterGradient, convFilterName, filterChunks } from '../conv/filter-gradient.ts';
import { poolForward, poolGradient, poolGradientName, poolName, type Pooling } from '../conv/pool.ts';
import { rowOperation, rowOperationName, type RowOperator } from '../conv/row-operations.ts';
import { convShape, type ConvShape } from '../conv/shape.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { presentRuntime, type KernelRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { matMulKernel, matMulName } from '../matmul/matmul.ts';
import type { MatMulProblem } from '../matmul/problem.ts';
import { tileFor } from '../matmul/tuning.ts';
import { reduceName, sumOnce } from '../reduce/reduce.ts';
import { overrideKernel } from './override.ts';

export function installConvolutions(): void {
  replaceForward();
  replaceInputGradient();
  replaceFilterGradient();
  replaceDepthwise();
  replacePooling('MaxPool', 'max');
  replacePooling('AvgPool', 'mean');
  replacePoolingGradient('MaxPoolGrad', 'max');
  replacePoolingGradient('AvgPoolGrad', 'mean');
  replaceRowOperations();
}

type Shape4D = [number, number, number, number];

interface ConvAttributes {
  strides: number | [number, number];
  pad: Parameters<typeof tf.backend_util.computeConv2DInfo>[4];
  dataFormat?: 'NHWC' | 'NCHW';
  dilations?: number | [number, number] | null;
  dimRoundingMode?: 'floor' | 'round' | 'ceil';
  inputShape: Shape4D;
  filterShape: Shape4D;
  activation?: string | null;
}

/** Null where a kernel of ours cannot do it. */
function shapeOf(
  [input, filter]: readonly [readonly number[], readonly number[]],
  { strides, pad, dataFormat, dilations, dimRoundingMode }: ConvAttributes,
  depthwise = false,
): ConvShape | null {
  if (dataFormat === 'NCHW') return null;
  return convShape(
    tf.backend_util.computeConv2DInfo(
      input as Shape4D,
      filter as Shape4D,
      strides,
      dilations ?? 1,
      pad,
      dimRoundingMode,
      depthwise,
    ),
  );
}

/** The runtime, where all tensors are of floats and all names are switched on. */
function usable(tensors: readonly TensorInfo[], ...names: string[]): KernelRuntime | null {
  const plain = tensors.every(({ dtype }) => dtype === 'float32');
  return plain && switchedOn(...names) ? presentRuntime() : null;
}

function runOne(
  runtime: KernelRuntime,
  kernel: Kernel,
  inputs: readonly TensorInfo[],
  shape: readonly number[],
): TensorInfo {
  const output = runtime.backend.makeTensorInfo([...shape], 'float32');
  runtime.runInto(kernel, inputs, [output]);
  return output;
}

/** Pixels of a filter of one tap, or whole inputs of a filter of their size, are the rows of a matrix. */
function asRows(shape: ConvShape): { m: number; k: number } | null {
  const { batch, inHeight, inWidth, inChannels, outHeight, outWidth, filterHeight, filterWidth } = shape;
  const { strideHeight, strideWidth, dilationHeight, dilationWidth, padTop, padLeft } = shape;
  const steps = [strideHeight, strideWidth, dilationHeight, dilationWidth];
  const plain = steps.every((step) => step === 1) && padTop === 0 && padLeft === 0;
  if (plain && filterHeight === 1 && filterWidth === 1 && outHeight === inHeight && outWidth === inWidth) {
    return { m: batch * inHeight * inWidth, k: inChannels };
  }
  const whole = filterHeight === inHeight && filterWidth === inWidth && outHeight * outWidth === 1;
  if (whole && plain) return { m: batch, k: inHeight * inWidth * inChannels };
  return null;
}

const isProduct = (shape: ConvShape): boolean => asRows(shape) !== null && switchedOn(matMulName);

function product(
  runtime: KernelRuntime,
  { m, n, k }: { m: number; n: number; k: number },
  more: Partial<MatMulProblem>,
): Kernel {
  const problem: MatMulProblem = { batch: 1, m, n, k, transposeA: false, transposeB: false, ...more };
  return matMulKernel(problem, tileFor(runtime, problem), runtime.traits);
}

const outShape = (shape: ConvShape): Shape4D => [
  shape.batch,
  shape.outHeight,
  shape.outWidth,
  shape.outChannels,
];

function replaceForward(): void {
  overrideKernel('Conv2D', 'webgpu', (original) => (parameters) => {
    const { x, filter } = parameters.inputs as { x: TensorInfo; filter: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([x, filter], convName);
    const shape = runtime && shapeOf([x.shape, filter.shape], attributes);
    if (!runtime || !shape) return original(parameters);
    return runOne(runtime, forwardKernel(runtime, shape), [x, filter], outShape(shape));
  });
  overrideKernel('FusedConv2D', 'webgpu', (original) => (parameters) => {
    const { x, filter, bias } = parameters.inputs as { x: TensorInfo; filter: TensorInfo; bias?: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const inputs = bias ? [x, filter, bias] : [x, filter];
    const runtime = usable(inputs, convName);
    const activation = attributes.activation ?? 'linear';
    const shape = runtime && shapeOf([x.shape, filter.shape], attributes);
    const row = !bias || tf.util.sizeFromShape(bias.shape) === shape?.outChannels;
    if (!runtime || !shape || !row || !(activation === 'linear' || activation === 'relu')) {
      return original(parameters);
    }
    const kernel = forwardKernel(runtime, shape, { bias: bias !== undefined, relu: activation === 'relu' });
    return runOne(runtime, kernel, inputs, outShape(shape));
  });
}

function forwardKernel(
  runtime: KernelRuntime,
  shape: ConvShape,
  { bias, relu }: { bias: boolean; relu: boolean } = { bias: false, relu: false },
): Kernel {
  const rows = asRows(shape);
  if (rows && isProduct(shape)) {
    const activation = relu ? 'relu' : 'none';
    return product(runtime, { ...rows, n: shape.outChannels }, { bias, activation });
  }
  return convForward(shape, runtime.traits, { bias, relu });
}

function replaceInputGradient(): void {
  overrideKernel('Conv2DBackpropInput', 'webgpu', (original) => (parameters) => {
    const { dy, filter } = parameters.inputs as { dy: TensorInfo; filter: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([dy, filter], convInputName);
    const shape = runtime && shapeOf([attributes.inputShape, filter.shape], attributes);
    if (!runtime || !shape) return original(parameters);
    const rows = asRows(shape);
    const kernel =
      rows && isProduct(shape)
        ? product(runtime, { m: rows.m, n: rows.k, k: shape.outChannels }, { transposeB: true })
        : convInputGradient(shape, runtime.traits);
    return runOne(runtime, kernel, [dy, filter], attributes.inputShape);
  });
}

function replaceFilterGradient(): void {
  overrideKernel('Conv2DBackpropFilter', 'webgpu', (original) => (parameters) => {
    const { x, dy } = parameters.inputs as { x: TensorInfo; dy: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([x, dy], convFilterName, reduceName);
    const shape = runtime && shapeOf([x.shape, attributes.filterShape], attributes);
    if (!runtime || !shape) return original(parameters);
    const { chunks } = filterChunks(shape, runtime.traits);
    const partial = convFilterGradient(shape, runtime.traits);
    return sumChunks(runtime, { partial, inputs: [x, dy], chunks, filterShape: attributes.filterShape });
  });
}

interface Chunked {
  readonly partial: Kernel;
  readonly inputs: readonly TensorInfo[];
  readonly chunks: number;
  readonly filterShape: readonly number[];
}

function sumChunks(runtime: KernelRuntime, { partial, inputs, chunks, filterShape }: Chunked): TensorInfo {
  if (chunks === 1) return runOne(runtime, partial, inputs, filterShape);
  const inner = tf.util.sizeFromShape([...filterShape]);
  const sums = runOne(runtime, partial, inputs, [chunks, inner]);
  const adding = sumOnce({ outer: 1, length: chunks, inner }, runtime.traits);
  const gradient = runOne(runtime, adding, [sums], filterShape);
  runtime.backend.disposeData(sums.dataId);
  return gradient;
}

function replaceDepthwise(): void {
  overrideKernel('DepthwiseConv2dNative', 'webgpu', (original) => (parameters) => {
    const { x, filter } = parameters.inputs as { x: TensorInfo; filter: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([x, filter], depthwiseName);
    const shape = runtime && shapeOf([x.shape, filter.shape], attributes, true);
    if (!runtime || !shape) return original(parameters);
    return runOne(runtime, depthwiseForward(shape, runtime.traits), [x, filter], outShape(shape));
  });
  overrideKernel('DepthwiseConv2dNativeBackpropInput', 'webgpu', (original) => (parameters) => {
    const { dy, filter } = parameters.inputs as { dy: TensorInfo; filter: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([dy, filter], depthwiseInputName);
    const shape = runtime && shapeOf([attributes.inputShape, filter.shape], attributes, true);
    if (!runtime || !shape) return original(parameters);
    const kernel = depthwiseInputGradient(shape, runtime.traits);
    return runOne(runtime, kernel, [dy, filter], attributes.inputShape);
  });
  overrideKernel('DepthwiseConv2dNativeBackpropFilter', 'webgpu', (original) => (parameters) => {
    const { x, dy } = parameters.inputs as { x: TensorInfo; dy: TensorInfo };
    const attributes = parameters.attrs as unknown as ConvAttributes;
    const runtime = usable([x, dy], depthwiseFilterName, reduceName);
    const shape = runtime && shapeOf([x.shape, attributes.filterShape], attributes, true);
    if (!runtime || !shape) return original(parameters);
    const { chunks } = depthwiseChunks(shape, runtime.traits);
    const partial = depthwiseFilterGradient(shape, runtime.traits);
    return sumChunks(runtime, { partial, inputs: [x, dy], chunks, filterShape: attributes.filterShape });
  });
}

interface PoolAttributes {
  filterSize: number | [number, number];
  strides: number | [number, number];
  pad: ConvAttributes['pad'];
  dimRoundingMode?: ConvAttributes['dimRoundingMode'];
}

function poolShape(input: readonly number[], attributes: PoolAttributes): ConvShape | null {
  const { filterSize, strides, pad, dimRoundingMode } = attributes;
  return convShape(
    tf.backend_util.computePool2DInfo(input as Shape4D, filterSize, strides, 1, pad, dimRoundingMode),
  );
}

function replacePooling(kernelName: string, pooling: Pooling): void {
  overrideKernel(kernelName, 'webgpu', (original) => (parameters) => {
    const { x } = parameters.inputs as { x: TensorInfo };
    const runtime = usable([x], poolName);
    const shape = runtime && poolShape(x.shape, parameters.attrs as unknown as PoolAttributes);
    if (!runtime || !shape) return original(parameters);
    return runOne(runtime, poolForward(pooling, shape), [x], outShape(shape));
  });
}

function replacePoolingGradient(kernelName: string, pooling: Pooling): void {
  overrideKernel(kernelName, 'webgpu', (original) => (parameters) => {
    const { dy, input } = parameters.inputs as { dy: TensorInfo; input: TensorInfo };
    const runtime = usable([dy, input], poolGradientName);
    const shape = runtime && poolShape(input.shape, parameters.attrs as unknown as PoolAttributes);
    if (!runtime || !shape) return original(parameters);
    const inputs = pooling === 'max' ? [dy, input] : [dy];
    return runOne(runtime, poolGradient(pooling, shape), inputs, input.shape);
  });
}

const rowOperators: Record<string, RowOperator> = { Add: '+', Sub: '-', Multiply: '*', RealDiv: '/' };

let rowsReplaced = false;

/** Laid over whatever has replaced these operations for equal shapes, which does not take rows. */
function replaceRowOperations(): void {
  if (rowsReplaced) return;
  rowsReplaced = true;
  for (const [kernelName, operator] of Object.entries(rowOperators)) {
    const kernel = tf.getKernel(kernelName, 'webgpu');
    if (!kernel) continue;
    tf.unregisterKernel(kernelName, 'webgpu');
    tf.registerKernel({ ...kernel, kernelFunc: withRows(kernel.kernelFunc, operator) });
  }
}

function withRows(original: KernelFunc, operator: RowOperator): KernelFunc {
  return (parameters) => {
    const { a, b } = parameters.inputs as { a: TensorInfo; b: TensorInfo };
    const rowFirst = isRowOf(a.shape, b.shape);
    if (!rowFirst && !isRowOf(b.shape, a.shape)) return original(parameters);
    const runtime = usable([a, b], rowOperationName);
    if (!runtime) return original(parameters);
    const { shape } = rowFirst ? b : a;
    const columns = tf.util.sizeFromShape((rowFirst ? a : b).shape);
    const rows = tf.util.sizeFromShape(shape) / columns;
    return runOne(runtime, rowOperation(operator, { rows, columns, rowFirst }), [a, b], shape);
  };
}

/** Whether `row` is repeated along the first axes of `whole` and along no other. */
export function isRowOf(row: readonly number[], whole: readonly number[]): boolean {
  const from = row.findIndex((size) => size !== 1);
  const bare = from < 0 ? [] : row.slice(from);
  const size = tf.util.sizeFromShape([...whole]);
  if (bare.length === 0 || row.length > whole.length || size === 0) return false;
  return tf.util.sizeFromShape(bare) < size && bare.join() === whole.slice(-bare.length).join();
}
