/** What the WebGPU back end of TensorFlow.js 4.22 gets wrong or does silently, mended at run time. */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { installConvolutions } from './convolutions.ts';
import { installGradientOverrides } from './gradients.ts';
import { integersToFloats, segmentSumIntegers, transposeIntegers } from './integer-programs.ts';
import { compose, overrideKernel } from './override.ts';
import { installProducts } from './products.ts';
import { installReductions } from './reductions.ts';

export function installWebGpuOverrides(backend: WebGPUBackend): void {
  installGradientOverrides();
  forbidSynchronousReads(backend);
  chunkAddN(backend.device.limits.maxStorageBuffersPerShaderStage - 1);
  installProducts();
  installConvolutions();
  installReductions();
  mendIntegerSegmentSum();
  mendIntegerCast();
  mendIntegerTranspose();
}

/** Synchronous reads return zeros or kill the GPU process; what lies on the CPU already may be read. */
function forbidSynchronousReads(backend: WebGPUBackend): void {
  const original = backend.readSync.bind(backend);
  backend.readSync = (dataId) => {
    const data = backend.tensorMap.get(dataId);
    if (data.values !== null && data.values !== undefined) return original(dataId);
    throw new Error('dataSync does not work on WebGPU: use await tensor.data()');
  };
}

/** AddN binds all inputs at one time; above the device's limit the dispatch fails without a word. */
function chunkAddN(largest: number): void {
  overrideKernel('AddN', 'webgpu', (original) => (parameters) => {
    const inputs = parameters.inputs as unknown as tf.TensorInfo[];
    if (inputs.length <= largest) return original(parameters);
    return compose(parameters.backend, inputs, (...all) => {
      let terms = all;
      while (terms.length > 1) {
        const sums: tf.Tensor[] = [];
        for (let i = 0; i < terms.length; i += largest) {
          const chunk = terms.slice(i, i + largest);
          sums.push(chunk.length === 1 ? (chunk[0] as tf.Tensor) : tf.addN(chunk));
        }
        terms = sums;
      }
      return terms[0] as tf.Tensor;
    });
  });
}

/** The stock kernel adds the bits of floats for int32. */
function mendIntegerSegmentSum(): void {
  overrideKernel('UnsortedSegmentSum', 'webgpu', (original) => (parameters) => {
    const { x, segmentIds } = parameters.inputs as { x: tf.TensorInfo; segmentIds: tf.TensorInfo };
    if (x.dtype !== 'int32') return original(parameters);
    const { numSegments } = parameters.attrs as unknown as { numSegments: number };
    return segmentSumIntegers(parameters.backend as WebGPUBackend, x, segmentIds, numSegments);
  });
}

/** The stock cast to float32 renames the type and leaves the bits of integers, which only its own programs look through. */
function mendIntegerCast(): void {
  overrideKernel('Cast', 'webgpu', (original) => (parameters) => {
    const { x } = parameters.inputs as { x: tf.TensorInfo };
    const { dtype } = parameters.attrs as unknown as { dtype: tf.DataType };
    const integers = x.dtype === 'int32' || x.dtype === 'bool';
    if (!integers || dtype !== 'float32') return original(parameters);
    return integersToFloats(parameters.backend as WebGPUBackend, x);
  });
}

/** tensorflow/tfjs#8638: since Chrome 141 the shader of an int32 transpose does not compile, and zeros come back. */
function mendIntegerTranspose(): void {
  overrideKernel('Transpose', 'webgpu', (original) => (parameters) => {
    const { x } = parameters.inputs as { x: tf.TensorInfo };
    if (x.dtype !== 'int32') return original(parameters);
    const { perm } = parameters.attrs as unknown as { perm: number[] };
    return transposeIntegers(parameters.backend as WebGPUBackend, x, perm);
  });
}
