/**
 * Runs kernels on the device of the TensorFlow.js back end, in its command encoder, so that they stay in order with the
 * stock operations. While a recorder is set nothing runs: what would run is written down (`capture/`).
 */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { Pacing } from '../device/pacing.ts';
import { grid, type DeviceTraits, type Kernel } from './kernel.ts';

/** Fields of the back end that TypeScript calls private and that running beside it needs. */
export interface OpenBackend {
  computePassEncoder: GPUComputePassEncoder | null;
  commandEncoder: GPUCommandEncoder | null;
  commandQueueOwnedIds: WeakSet<object>;
  dispatchCountInPass: number;
  ensureCommandEncoderReady(): void;
  endComputePassEncoder(): void;
  submitQueue(): void;
}

export interface KernelRecorder {
  kernel(kernel: Kernel, inputs: readonly tf.TensorInfo[], outputs: readonly tf.TensorInfo[]): void;
  /** Whether a tensor may hold other values at every replay. */
  given(tensor: tf.TensorInfo): boolean;
}

export interface OutputSpec {
  shape: number[];
  dtype?: 'float32' | 'int32';
}

/** A kernel that this device's compiler refuses. */
export class KernelCompilationError extends Error {
  /** The name to switch it off by. */
  readonly kernel: string;

  constructor(kernel: string, cause: unknown) {
    super(
      `the kernel ${kernel} does not compile: ${cause instanceof Error ? cause.message : String(cause)}`,
      {
        cause,
      },
    );
    this.name = 'KernelCompilationError';
    this.kernel = kernel;
  }
}

export class KernelRuntime {
  readonly device: GPUDevice;
  readonly backend: WebGPUBackend;
  readonly traits: DeviceTraits;
  readonly pacing: Pacing;
  recorder: KernelRecorder | null = null;
  readonly #open: OpenBackend;
  readonly #pipelines = new Map<string, GPUComputePipeline>();
  readonly #compiling = new Map<string, Promise<GPUComputePipeline>>();
  readonly #layouts = new Map<string, GPUBindGroupLayout>();
  readonly #spanLayout: GPUBindGroupLayout;
  readonly #spans = new Map<string, GPUBindGroup>();

  constructor(backend: WebGPUBackend, traits: DeviceTraits) {
    this.backend = backend;
    this.device = backend.device;
    this.traits = traits;
    this.pacing = new Pacing(traits);
    this.#open = backend as unknown as OpenBackend;
    this.#spanLayout = this.device.createBindGroupLayout({
      entries: [{ binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: { type: 'uniform' } }],
    });
  }

  /** Compiles at once, which stops the thread; `prepare` does not. */
  pipeline(kernel: Kernel): GPUComputePipeline {
    const ready = this.#pipelines.get(kernel.key);
    if (ready) return ready;
    const made = this.device.createComputePipeline(this.#describe(kernel));
    this.#pipelines.set(kernel.key, made);
    return made;
  }

  /** Compiles beside this thread. @throws KernelCompilationError where the device refuses it. */
  async prepare(kernel: Kernel): Promise<GPUComputePipeline> {
    const ready = this.#pipelines.get(kernel.key);
    if (ready) return ready;
    let compiling = this.#compiling.get(kernel.key);
    if (!compiling) {
      compiling = this.device.createComputePipelineAsync(this.#describe(kernel)).catch((error: unknown) => {
        throw new KernelCompilationError(kernel.name, error);
      });
      this.#compiling.set(kernel.key, compiling);
    }
    try {
      const made = await compiling;
      this.#pipelines.set(kernel.key, made);
      return made;
    } finally {
      this.#compiling.delete(kernel.key);
    }
  }

  #describe(kernel: Kernel): GPUComputePipelineDescriptor {
    return {
      label: kernel.name,
      layout: this.device.createPipelineLayout({
        bindGroupLayouts: [this.layout(kernel), this.#spanLayout],
      }),
      compute: {
        module: this.device.createShaderModule({ code: kernel.wgsl(), label: kernel.name }),
        entryPoint: 'main',
      },
    };
  }

  /** Kernels with as many inputs and outputs share a layout. */
  layout({ inputs, outputs }: Kernel): GPUBindGroupLayout {
    const key = `${inputs} ${outputs}`;
    const kept = this.#layouts.get(key);
    if (kept) return kept;
    const made = this.device.createBindGroupLayout({
      entries: Array.from({ length: inputs + outputs }, (_, binding) => ({
        binding,
        visibility: GPUShaderStage.COMPUTE,
        buffer: { type: binding < inputs ? ('read-only-storage' as const) : ('storage' as const) },
      })),
    });
    this.#layouts.set(key, made);
    return made;
  }

  /** The bind group of the workgroups [start, end) of a run, and of the kernel's arguments. */
  span(kernel: Kernel, start = 0, end?: number): GPUBindGroup {
    const numbers = kernel.arguments ?? [];
    // Without arguments the shader knows its number of workgroups: one group serves all.
    const last = end ?? (numbers.length > 0 ? kernel.workgroups : 0xffff_ffff);
    const key = [start, last, ...numbers].join(' ');
    const kept = this.#spans.get(key);
    if (kept) return kept;
    const buffer = this.device.createBuffer({
      size: 32,
      usage: GPUBufferUsage.UNIFORM,
      mappedAtCreation: true,
    });
    new Uint32Array(buffer.getMappedRange()).set([start, last, 0, 0, ...numbers]);
    buffer.unmap();
    const made = this.device.createBindGroup({
      layout: this.#spanLayout,
      entries: [{ binding: 0, resource: { buffer } }],
    });
    this.#spans.set(key, made);
    return made;
  }

  /** Runs `kernel` into new tensors, which the caller (or the surrounding tidy) owns. */
  run(kernel: Kernel, inputs: readonly tf.TensorInfo[], outputs: readonly OutputSpec[]): tf.Tensor[] {
    const infos = outputs.map(({ shape, dtype }) => this.backend.makeTensorInfo(shape, dtype ?? 'float32'));
    this.runInto(kernel, inputs, infos);
    return infos.map((info) => tf.engine().makeTensorFromTensorInfo(info));
  }

  /** Runs `kernel` on existing tensors; an output may not be an input as well. */
  runInto(kernel: Kernel, inputs: readonly tf.TensorInfo[], outputs: readonly tf.TensorInfo[]): void {
    if (inputs.length !== kernel.inputs || outputs.length !== kernel.outputs) {
      throw new Error(`${kernel.name} takes ${kernel.inputs} inputs and ${kernel.outputs} outputs`);
    }
    if (this.recorder) {
      this.recorder.kernel(kernel, inputs, outputs);
      return;
    }
    const entries = [...inputs, ...outputs].map(({ dataId }, binding) => ({
      binding,
      resource: { buffer: this.buffer(dataId) },
    }));
    const pipeline = this.pipeline(kernel);
    const bindGroup = this.device.createBindGroup({ layout: this.layout(kernel), entries });
    const open = this.#open;
    open.ensureCommandEncoderReady();
    open.computePassEncoder ??= (open.commandEncoder as GPUCommandEncoder).beginComputePass();
    const pass = open.computePassEncoder;
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.setBindGroup(1, this.span(kernel));
    pass.dispatchWorkgroups(...grid(kernel.workgroups));
    for (const { dataId } of [...inputs, ...outputs]) open.commandQueueOwnedIds.add(dataId);
    // Values kept on the CPU are no longer those of the buffer.
    for (const { dataId } of outputs) {
      Object.assign(this.backend.tensorMap.get(dataId), { values: null });
    }
    open.dispatchCountInPass++;
    if (open.dispatchCountInPass >= tf.env().getNumber('WEBGPU_DEFERRED_SUBMIT_BATCH_SIZE')) this.flush();
  }

  /** The buffer of a tensor, made or filled if need be. */
  buffer(dataId: object): GPUBuffer {
    this.backend.uploadToGPU(dataId);
    return this.backend.tensorMap.get(dataId).resource as GPUBuffer;
  }

  /** A new tensor on the device, to be written before it is read: its buffer may have held something else. */
  empty(shape: number[], dtype: 'float32' | 'int32' = 'float32'): tf.Tensor {
    const info = this.backend.makeTensorInfo(shape, dtype);
    this.backend.uploadToGPU(info.dataId);
    return tf.engine().makeTensorFromTensorInfo(info);
  }

  /** Overwrites a tensor's values in place, after all that has been recorded so far. */
  write(tensor: tf.TensorInfo, values: Float32Array<ArrayBuffer> | Int32Array<ArrayBuffer>): void {
    if (values.length !== tf.util.sizeFromShape(tensor.shape)) {
      throw new RangeError(`${values.length} values for a tensor of shape [${tensor.shape.join(', ')}]`);
    }
    const buffer = this.buffer(tensor.dataId);
    this.flush();
    this.device.queue.writeBuffer(buffer, 0, values);
    Object.assign(this.backend.tensorMap.get(tensor.dataId), { values: null });
  }

  /** Sets tensors to zero, after all that has been recorded so far. */
  clear(tensors: readonly tf.TensorInfo[]): void {
    const buffers = tensors.map(({ dataId }) => this.buffer(dataId));
    this.flush();
    const encoder = this.device.createCommandEncoder();
    for (const buffer of buffers) encoder.clearBuffer(buffer);
    this.device.queue.submit([encoder.finish()]);
    for (const { dataId } of tensors) Object.assign(this.backend.tensorMap.get(dataId), { values: null });
  }

  /** Copies `parts`, each to its offset in elements, into `target`. */
  copyInto(target: tf.TensorInfo, parts: readonly tf.TensorInfo[], offsets: readonly number[]): void {
    const into = this.buffer(target.dataId);
    const sources = parts.map(({ dataId }) => this.buffer(dataId));
    this.flush();
    const encoder = this.device.createCommandEncoder();
    sources.forEach((source, i) => {
      const bytes = 4 * tf.util.sizeFromShape((parts[i] as tf.TensorInfo).shape);
      encoder.copyBufferToBuffer(source, 0, into, 4 * (offsets[i] ?? 0), bytes);
    });
    this.device.queue.submit([encoder.finish()]);
    Object.assign(this.backend.tensorMap.get(target.dataId), { values: null });
  }

  /** Submits what has been recorded so far. */
  flush(): void {
    if (!this.#open.commandEncoder) return;
    this.#open.endComputePassEncoder();
    this.#open.submitQueue();
  }
}

const runtimes = new WeakMap<object, KernelRuntime>();

export function registerRuntime(runtime: KernelRuntime): void {
  runtimes.set(runtime.backend, runtime);
}

/** The runtime of the present back end, or null where that is not a WebGPU device of ours. */
export function presentRuntime(): KernelRuntime | null {
  return runtimes.get(tf.backend()) ?? null;
}
