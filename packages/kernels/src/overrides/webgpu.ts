/** What the WebGPU back end of TensorFlow.js 4.22 gets wrong or does silently, mended at run time. */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { installGradientOverrides } from './gradients.ts';
import { segmentSumIntegers, transposeIntegers } from './integer-programs.ts';
import { compose, overrideKernel } from './override.ts';

/** Rows that one dispatch of the stock softmax covers without running out of bounds. */
export const softmaxRows = 65_535;

export function installWebGpuOverrides(backend: WebGPUBackend): void {
  installGradientOverrides();
  forbidSynchronousReads(backend);
  chunkAddN(backend.device.limits.maxStorageBuffersPerShaderStage - 1);
  splitSoftmax();
  keepProductsInOrder();
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

interface MatMulBackend {
  thresholdToIncreaseWorkgroups: number;
}

/** From this inner size on, small products are split into parts that are added by atomics, in no fixed order. */
const splitInnerSize = 2000;
/** `MatMulProgramType.MatMulSmallOutputSizeProgram`, the stock choice for small outputs with a shorter inner axis. */
const smallOutputProgram = 2;

/** A recomputation on a like device must give the same bits, so the split product is never used. */
function keepProductsInOrder(): void {
  overrideKernel('BatchMatMul', 'webgpu', (original) => (parameters) => {
    const { a, b } = parameters.inputs as { a: tf.TensorInfo; b: tf.TensorInfo };
    const { transposeA, transposeB } = parameters.attrs as unknown as {
      transposeA: boolean;
      transposeB: boolean;
    };
    const inner = a.shape.at(transposeA ? -2 : -1) ?? 1;
    const rows = a.shape.at(transposeA ? -1 : -2) ?? 1;
    const columns = b.shape.at(transposeB ? -2 : -1) ?? 1;
    const workgroups = Math.ceil(rows / 32) * Math.ceil(columns / 32);
    const few = workgroups <= 2 * (parameters.backend as MatMulBackend).thresholdToIncreaseWorkgroups;
    // Up to 128 elements the stock choice is a reduction in fixed order.
    if (inner < splitInnerSize || !few || rows * columns <= 128) return original(parameters);
    const before = tf.env().getNumber('WEBGPU_MATMUL_PROGRAM_TYPE');
    tf.env().set('WEBGPU_MATMUL_PROGRAM_TYPE', smallOutputProgram);
    try {
      return original(parameters);
    } finally {
      tf.env().set('WEBGPU_MATMUL_PROGRAM_TYPE', before);
    }
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
