/** What the WebGPU back end of TensorFlow.js 4.22 gets wrong or does silently, mended at run time. */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { installGradientOverrides } from './gradients.ts';
import { segmentSumIntegers, transposeIntegers } from './integer-programs.ts';
import { compose, overrideKernel } from './override.ts';
import { installProducts } from './products.ts';

/** Rows that one dispatch of the stock softmax covers without running out of bounds. */
export const softmaxRows = 65_535;

export function installWebGpuOverrides(backend: WebGPUBackend): void {
  installGradientOverrides();
  forbidSynchronousReads(backend);
  chunkAddN(backend.device.limits.maxStorageBuffersPerShaderStage - 1);
  splitSoftmax();
  installProducts();
  mendIntegerSegmentSum();
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

/** The stock softmax writes out of bounds beyond 65,535 rows. */
function splitSoftmax(): void {
  overrideKernel('Softmax', 'webgpu', (original) => (parameters) => {
    const { logits } = parameters.inputs as { logits: tf.TensorInfo };
    const width = logits.shape.at(-1) ?? 1;
    const rows = logits.shape.reduce((product, size) => product * size, 1) / width;
    if (rows <= softmaxRows) return original(parameters);
    return compose(parameters.backend, [logits], (x) => {
      const flat = tf.reshape(x as tf.Tensor, [rows, width]);
      const parts: tf.Tensor2D[] = [];
      for (let start = 0; start < rows; start += softmaxRows) {
        parts.push(
          tf.softmax(tf.slice(flat, [start, 0], [Math.min(softmaxRows, rows - start), width])) as tf.Tensor2D,
        );
      }
      return tf.reshape(tf.concat(parts, 0), logits.shape);
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

/** tensorflow/tfjs#8638: since Chrome 141 the shader of an int32 transpose does not compile, and zeros come back. */
function mendIntegerTranspose(): void {
  overrideKernel('Transpose', 'webgpu', (original) => (parameters) => {
    const { x } = parameters.inputs as { x: tf.TensorInfo };
    if (x.dtype !== 'int32') return original(parameters);
    const { perm } = parameters.attrs as unknown as { perm: number[] };
    return transposeIntegers(parameters.backend as WebGPUBackend, x, perm);
  });
}
