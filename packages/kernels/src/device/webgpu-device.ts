/**
 * Our own GPU device, handed to the TensorFlow.js back end, which by itself asks for few limits and no features, and
 * hears neither of errors nor of loss.
 */
import * as tf from '@tensorflow/tfjs';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { KernelRuntime, registerRuntime } from '../kernel/runtime.ts';
import { switchAllOn } from '../kernel/switches.ts';
import { installWebGpuOverrides } from '../overrides/webgpu.ts';
import { type DeviceError, ErrorWatch } from './error-watch.ts';

export type GpuFailure = DeviceError | { kind: 'lost'; message: string };

export interface WebGpuOptions {
  /** Lets products round their operands to float16 where the device has it and is faster so; sums stay float32. */
  mixedPrecision?: boolean;
}

export interface WebGpuDevice {
  device: GPUDevice;
  info: GPUAdapterInfo;
  features: string[];
  /** A software adapter, with no GPU behind it. */
  software: boolean;
  maxBufferBytes: number;
  /** Runs our own kernels on the device. */
  kernels: KernelRuntime;
  /** Resolves when the device is gone. */
  lost: Promise<GpuFailure>;
  /** Failures since the last call, of all that was issued before this one: what was computed is not to be trusted. */
  takeFailures(): Promise<GpuFailure[]>;
  /** Resolves when all that has been submitted is done. */
  idle(): Promise<void>;
  allocatedBytes(): number;
  /** Gives back buffers kept for later use. After a failed allocation some of them may be no buffers at all. */
  dropFreeBuffers(): void;
  dispose(): void;
}

const wantedFeatures: GPUFeatureName[] = ['shader-f16', 'subgroups' as GPUFeatureName, 'timestamp-query'];
const raisedLimits = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupSizeY',
  'maxComputeWorkgroupsPerDimension',
] as const;

/**
 * Requests an adapter and a device, registers the back end `webgpu` on it and makes it the current one.
 * @throws Error in words when WebGPU cannot be had here.
 */
export async function createWebGpuDevice(
  gpu: GPU | undefined,
  options: WebGpuOptions = {},
): Promise<WebGpuDevice> {
  if (!gpu) throw new Error('this browser offers no WebGPU on this page (it needs HTTPS or localhost)');
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter) throw new Error('WebGPU finds no usable GPU or driver');
  const device = await requestDevice(adapter);
  const errors = new ErrorWatch(device);
  const { WebGPUBackend } = await import('@tensorflow/tfjs-backend-webgpu');
  const backend = new WebGPUBackend(device, adapter.info);
  tf.env().set('WEBGPU_CPU_FORWARD', false);
  if (tf.findBackendFactory('webgpu') !== null) tf.removeBackend('webgpu');
  tf.registerBackend('webgpu', () => backend, 3);
  if (!(await tf.setBackend('webgpu'))) throw new Error('TensorFlow.js could not use the GPU device');
  await tf.ready();
  installWebGpuOverrides(backend);
  const { info } = adapter;
  const traits = { ...traitsOf(device, isSoftware(info)), mixedPrecision: options.mixedPrecision ?? false };
  const kernels = new KernelRuntime(backend, traits);
  registerRuntime(kernels);
  switchAllOn();
  return {
    device,
    info,
    features: [...device.features],
    software: isSoftware(info),
    kernels,
    maxBufferBytes: Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize),
    lost: device.lost.then(({ reason, message }) => ({
      kind: 'lost' as const,
      message: message || `the GPU device was lost (${reason})`,
    })),
    takeFailures: () => errors.take(),
    idle: async () => {
      kernels.flush();
      await device.queue.onSubmittedWorkDone();
    },
    allocatedBytes: () => backend.memory().numBytesAllocatedInGPU,
    dropFreeBuffers: () => {
      kernels.flush();
      dropFreeBuffers(backend);
    },
    dispose: () => {
      tf.removeBackend('webgpu');
      device.destroy();
    },
  };
}

/** The pool of the back end, which TypeScript calls private. */
interface BufferPool {
  freeBuffers: Map<string, GPUBuffer[]>;
  numFreeBuffers: number;
  numBytesAllocated: number;
}

function dropFreeBuffers(backend: object): void {
  const pool = (backend as { bufferManager: BufferPool }).bufferManager;
  for (const buffers of pool.freeBuffers.values()) {
    for (const buffer of buffers.splice(0)) {
      pool.numFreeBuffers--;
      pool.numBytesAllocated -= buffer.size;
      buffer.destroy();
    }
  }
}

/** The adapter's own limits first, then the defaults: some phones refuse the former. */
async function requestDevice(adapter: GPUAdapter): Promise<GPUDevice> {
  const requiredFeatures = wantedFeatures.filter((feature) => adapter.features.has(feature));
  const requiredLimits = Object.fromEntries(raisedLimits.map((limit) => [limit, adapter.limits[limit]]));
  const attempts: GPUDeviceDescriptor[] = [{ requiredFeatures, requiredLimits }, { requiredFeatures }, {}];
  let last: unknown;
  for (const attempt of attempts) {
    try {
      return await adapter.requestDevice(attempt);
    } catch (error) {
      last = error;
    }
  }
  throw new Error(`the GPU refused a device: ${(last as Error).message}`, { cause: last });
}

function traitsOf({ features, limits }: GPUDevice, software: boolean): DeviceTraits {
  return {
    software,
    f16: features.has('shader-f16'),
    subgroups: features.has('subgroups' as GPUFeatureName),
    maxInvocations: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
    maxBindingBytes: Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize),
    maxStorageBuffers: limits.maxStorageBuffersPerShaderStage,
  };
}

function isSoftware(info: GPUAdapterInfo): boolean {
  const words = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  const named = ['swiftshader', 'llvmpipe', 'lavapipe', 'basic render'].some((name) => words.includes(name));
  return named || ('isFallbackAdapter' in info && info.isFallbackAdapter === true);
}
