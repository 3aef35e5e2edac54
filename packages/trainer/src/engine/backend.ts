/** Choosing and setting up a TensorFlow.js back end: WebGPU, else WebGL, else WASM, else plain JavaScript. */
import {
  createWebGpuDevice,
  installGradientOverrides,
  installWasmOverrides,
  type WebGpuDevice,
} from '@tabweave/kernels';
import type { DeviceReport } from '@tabweave/shared';
import * as tf from '@tensorflow/tfjs';

export type BackendName = DeviceReport['backend'];

export interface BackendOptions {
  backend: 'auto' | BackendName;
  /** Where the WASM back end's files are: a folder ending in `/`, or a map from file name to address. */
  wasmPath?: string | Record<string, string>;
  /** WebGPU, where it is not `navigator.gpu` (Node). */
  gpu?: GPU;
  /** On WebGPU: products may round their operands to float16; off by default. */
  mixedPrecision?: boolean;
  /** Memory that a run may use, where the host knows better than the estimate. */
  memoryLimitBytes?: number;
}

export interface ReadyBackend {
  report: DeviceReport;
  gpu: WebGpuDevice | null;
}

/** Typical share of a device's memory that a page may count on. */
const assumedMemory = { webgpu: 2 * 2 ** 30, webgl: 2 ** 30, wasm: 1.5 * 2 ** 30, cpu: 2 ** 30 } as const;
/** A WASM heap ends at 4 GiB; single allocations are kept well below. */
const cpuBufferBytes = 2 ** 30;

/** @throws Error in words when the wanted back end (or with `auto`, every one) cannot be used. */
export async function setUpBackend(options: BackendOptions): Promise<ReadyBackend> {
  const candidates: readonly BackendName[] =
    options.backend === 'auto' ? ['webgpu', 'webgl', 'wasm', 'cpu'] : [options.backend];
  const refusals: string[] = [];
  for (const name of candidates) {
    try {
      return await setUp(name, options, refusals.join('; '));
    } catch (error) {
      refusals.push(`${words[name]}: ${(error as Error).message}`);
    }
  }
  throw new Error(refusals.join('; '));
}

const words: Record<BackendName, string> = {
  webgpu: 'WebGPU',
  webgl: 'WebGL',
  wasm: 'WASM',
  cpu: 'JavaScript',
};

async function setUp(
  name: BackendName,
  options: BackendOptions,
  fallbackReason: string,
): Promise<ReadyBackend> {
  const common = {
    backend: name,
    fallbackReason: fallbackReason.slice(0, 300),
    environment: inNode() ? ('node' as const) : ('browser' as const),
    hardwareThreads: globalThis.navigator?.hardwareConcurrency ?? 1,
    profile: null,
    userAgent: (globalThis.navigator?.userAgent ?? '').slice(0, 300),
  };
  if (name === 'webgpu') {
    const { mixedPrecision = false } = options;
    const gpu = await createWebGpuDevice(options.gpu ?? globalThis.navigator?.gpu, { mixedPrecision });
    const { info } = gpu;
    const adapter = [info.vendor, info.architecture, info.description]
      .filter((part) => part !== '')
      .join(' ');
    return {
      gpu,
      report: {
        ...common,
        adapter: adapter.slice(0, 300),
        software: gpu.software,
        features: gpu.features.slice(0, 60).map((feature) => feature.slice(0, 60)),
        memoryBytes: options.memoryLimitBytes ?? memoryEstimate('webgpu'),
        maxBufferBytes: gpu.maxBufferBytes,
      },
    };
  }
  if (name === 'wasm') {
    const { setWasmPaths } = await import('@tensorflow/tfjs-backend-wasm');
    if (options.wasmPath !== undefined) setWasmPaths(options.wasmPath);
  }
  if (!(await tf.setBackend(name))) throw new Error(`${words[name]} does not work here`);
  await tf.ready();
  if (name === 'wasm') installWasmOverrides();
  else installGradientOverrides();
  const renderer = name === 'webgl' ? webglRenderer() : '';
  return {
    gpu: null,
    report: {
      ...common,
      adapter: renderer,
      software: name !== 'webgl' || /swiftshader|llvmpipe|software|basic render/i.test(renderer),
      features: [],
      memoryBytes: options.memoryLimitBytes ?? memoryEstimate(name),
      maxBufferBytes: name === 'webgl' ? webglTextureBytes() : cpuBufferBytes,
    },
  };
}

function inNode(): boolean {
  return (globalThis as { process?: { versions?: { node?: string } } }).process?.versions?.node !== undefined;
}

/** `navigator.deviceMemory` (GiB, at most 8) where there is one; half of it may be ours. */
function memoryEstimate(name: BackendName): number {
  const gibibytes = (globalThis.navigator as { deviceMemory?: number } | undefined)?.deviceMemory;
  if (gibibytes === undefined) return assumedMemory[name];
  return Math.min(Math.max(gibibytes * 2 ** 29, 2 ** 28), 2 * assumedMemory[name]);
}

function webglContext(): WebGLRenderingContext | null {
  return (tf.backend() as unknown as { gpgpu?: { gl?: WebGLRenderingContext } }).gpgpu?.gl ?? null;
}

function webglRenderer(): string {
  const gl = webglContext();
  const extension = gl?.getExtension('WEBGL_debug_renderer_info');
  const name: unknown = extension
    ? gl?.getParameter(extension.UNMASKED_RENDERER_WEBGL)
    : gl?.getParameter(gl.RENDERER);
  return typeof name === 'string' ? name.slice(0, 300) : '';
}

function webglTextureBytes(): number {
  const side = tf.env().getNumber('WEBGL_MAX_TEXTURE_SIZE');
  return Math.min(cpuBufferBytes, 4 * side * side);
}
