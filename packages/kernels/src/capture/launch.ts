/** One launch of a recorded step. Buffers are named by the data ids of the tensors that stood for them. */
import type { Kernel } from '../kernel/kernel.ts';

export type BufferId = object;

interface Bindings {
  readonly inputs: readonly BufferId[];
  readonly outputs: readonly BufferId[];
}

export interface KernelLaunch extends Bindings {
  readonly kernel: Kernel;
}

/** A program of TensorFlow.js: output first, then inputs, then its uniforms. */
export interface StockLaunch extends Bindings {
  readonly kernel: null;
  readonly shaderKey: string;
  readonly uniforms: GPUBuffer;
  readonly uniformBytes: number;
  readonly dispatch: readonly [number, number, number];
  readonly flops: number;
}

export type Launch = KernelLaunch | StockLaunch;

/** Where a buffer is read. A launch that adds to its output reads it too. */
export function reads(launch: Launch, id: BufferId): boolean {
  return launch.inputs.includes(id) || (keepsOutput(launch) && launch.outputs.includes(id));
}

function keepsOutput(launch: Launch): boolean {
  return launch.kernel !== null && (launch.kernel.adds ?? false);
}

export function writes(launch: Launch, id: BufferId): boolean {
  return launch.outputs.includes(id);
}
