/**
 * Writes down what operations would launch, without running anything: no buffer is made and no pipeline waited for, so
 * a trace takes script time only. Stock programs are caught where the back end would record them, our kernels in the
 * runtime.
 */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import type { KernelRuntime } from '../kernel/runtime.ts';
import type { BufferId, Launch } from './launch.ts';

type Program = Parameters<WebGPUBackend['runWebGPUProgram']>[0];
type Uniforms = Parameters<WebGPUBackend['runWebGPUProgram']>[3];
type UniformList = NonNullable<Uniforms>;

/** Members of the back end that a trace takes over or uses. */
interface TracedBackend {
  uploadToGPU: (dataId: object) => void;
  runWebGPUProgram: (
    program: Program,
    inputs: tf.TensorInfo[],
    dtype: tf.DataType,
    uniforms?: Uniforms,
    output?: tf.TensorInfo,
  ) => tf.TensorInfo;
  makeUniforms(list: UniformList): { buffer: GPUBuffer; size: number };
  uniformPendingDisposal: GPUBuffer[];
  bufferManager: { releaseBuffer(buffer: GPUBuffer): void };
  incRef(dataId: object): void;
}

export interface Trace {
  launches: Launch[];
  /** Bytes of every buffer seen. */
  bytes: Map<BufferId, number>;
  /** Buffers that the work read and neither made nor was given: made on the CPU meanwhile, or kept from before. */
  constants: Map<BufferId, tf.Tensor>;
  /** What the work returned. */
  results: { id: BufferId; dtype: tf.DataType }[];
  release(): void;
}

/**
 * @param given tensors that the work reads and that change from replay to replay.
 * @param work must be the same on every run: no reading of values, no randomness, no assignment. Its results may be
 * disposed of.
 * @throws whatever `work` throws; Error where it reads values, assigns or draws random numbers without a seed, which a
 * recorded step cannot.
 */
export function trace(
  runtime: KernelRuntime,
  given: readonly tf.Tensor[],
  work: () => readonly tf.Tensor[],
): Trace {
  const backend = runtime.backend as unknown as TracedBackend;
  const launches: Launch[] = [];
  const bytes = new Map<BufferId, number>();
  const constants = new Map<BufferId, tf.Tensor>();
  const made = new Set<BufferId>(given.map(({ dataId }) => dataId));
  const uniformBuffers: GPUBuffer[] = [];

  const see = (info: tf.TensorInfo): BufferId => {
    bytes.set(info.dataId, 4 * tf.util.sizeFromShape(info.shape));
    return info.dataId;
  };
  const seeInput = (info: tf.TensorInfo): BufferId => {
    if (!made.has(info.dataId) && !constants.has(info.dataId)) {
      backend.incRef(info.dataId);
      constants.set(info.dataId, tf.keep(tf.engine().makeTensorFromTensorInfo(info)));
    }
    return see(info);
  };
  const seeOutput = (info: tf.TensorInfo): BufferId => {
    made.add(info.dataId);
    return see(info);
  };
  const release = (): void => {
    for (const buffer of uniformBuffers) backend.bufferManager.releaseBuffer(buffer);
    tf.dispose([...constants.values()]);
  };

  const original = {
    uploadToGPU: backend.uploadToGPU,
    runWebGPUProgram: backend.runWebGPUProgram,
  };
  const compileOnly = tf.env().getBool('WEBGPU_ENGINE_COMPILE_ONLY');
  backend.uploadToGPU = () => undefined;
  backend.runWebGPUProgram = (program, inputs, dtype, uniforms, output) => {
    const result = original.runWebGPUProgram.call(backend, program, inputs, dtype, uniforms, output);
    if (tf.util.sizeFromShape(result.shape) === 0) return result;
    const { buffer, size } = backend.makeUniforms(uniformList(program, inputs, result, uniforms));
    // Ours from here on: the back end would recycle it after its next submit.
    backend.uniformPendingDisposal.splice(backend.uniformPendingDisposal.indexOf(buffer), 1);
    uniformBuffers.push(buffer);
    const read = inputs.map(seeInput);
    launches.push({
      kernel: null,
      shaderKey: program.shaderKey,
      uniforms: buffer,
      uniformBytes: size,
      dispatch: program.dispatch,
      inputs: read,
      outputs: [seeOutput(result)],
      flops: estimate(inputs, result),
    });
    return result;
  };
  runtime.recorder = {
    kernel: (kernel, inputs, outputs) => {
      const read = inputs.map(seeInput);
      launches.push({ kernel, inputs: read, outputs: outputs.map(seeOutput) });
    },
    given: ({ dataId }) => given.some((tensor) => tensor.dataId === dataId),
  };
  tf.env().set('WEBGPU_ENGINE_COMPILE_ONLY', true);
  const variables = tf.Variable.prototype as unknown as { assign: (value: tf.Tensor) => void };
  const { assign } = variables;
  variables.assign = () => {
    throw new Error('a recorded step cannot assign to variables: it would do so once, when it is recorded');
  };
  // What TensorFlow.js draws random numbers from; with a seed it draws the same ones every time anyhow.
  const { random } = Math;
  Math.random = () => {
    throw new Error(
      'a recorded step cannot draw random numbers: it would draw them once, when it is recorded',
    );
  };
  try {
    const results: Trace['results'] = [];
    tf.tidy(() => {
      for (const tensor of work()) results.push({ id: seeInput(tensor), dtype: tensor.dtype });
    });
    return { launches, bytes, constants, results, release };
  } catch (error) {
    release();
    throw error;
  } finally {
    tf.env().set('WEBGPU_ENGINE_COMPILE_ONLY', compileOnly);
    variables.assign = assign;
    Math.random = random;
    runtime.recorder = null;
    Object.assign(backend, original);
  }
}

/** The uniforms that the back end gives to every program, in its order. */
function uniformList(
  program: Program,
  inputs: readonly tf.TensorInfo[],
  output: tf.TensorInfo,
  own: Uniforms,
): UniformList {
  const list: UniformList = [
    { type: 'float32', data: [NaN] },
    { type: 'float32', data: [Infinity] },
  ];
  for (const { shape } of [...inputs, output]) {
    list.push({ type: 'int32', data: [...shape] }, { type: 'int32', data: tf.util.computeStrides(shape) });
  }
  if (program.size) {
    const size = tf.util.sizeFromShape(program.outputShape);
    list.push({ type: 'int32', data: [size / (program.outputComponent ?? 1)] });
  }
  return [...list, ...(own ?? [])];
}

/** A stock program says nothing of its work; that of its largest operand times a few is a fair guess. */
function estimate(inputs: readonly tf.TensorInfo[], output: tf.TensorInfo): number {
  return 4 * Math.max(...[...inputs, output].map(({ shape }) => tf.util.sizeFromShape(shape)));
}
