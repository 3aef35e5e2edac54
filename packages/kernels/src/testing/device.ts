/** A real device for tests, in Node and in a browser; every test that uses it fails on a GPU error that nobody caught. */
import * as tf from '@tensorflow/tfjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createWebGpuDevice, type WebGpuDevice } from '../device/webgpu-device.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { switchAllOn } from '../kernel/switches.ts';

/** The browser's own WebGPU, else Dawn, which is for Node only and must not enter a bundle. */
export async function presentGpu(): Promise<GPU> {
  if (typeof window !== 'undefined') return navigator.gpu;
  const { installNodeWebGpu } = await import('../node/install-webgpu.ts');
  return installNodeWebGpu();
}

/** To be called once in a test file, at its top. Each test begins on WebGPU with all kernels on. */
export function useDevice(): () => { device: WebGpuDevice; runtime: KernelRuntime } {
  let device: WebGpuDevice;
  beforeAll(async () => {
    device = await createWebGpuDevice(await presentGpu());
  }, 120_000);
  beforeEach(async () => {
    await tf.setBackend('webgpu');
  });
  afterEach(async () => {
    switchAllOn();
    await device.idle();
    expect(await device.takeFailures()).toEqual([]);
  });
  afterAll(() => device.dispose());
  return () => ({ device, runtime: device.kernels });
}

/** Reads and disposes of tensors. */
export async function read(tensors: readonly tf.Tensor[]): Promise<Float32Array[]> {
  const values = await Promise.all(tensors.map((tensor) => tensor.data()));
  tf.dispose([...tensors]);
  return values.map((value) => Float32Array.from(value as ArrayLike<number>));
}

/** A small generator (mulberry32), so that a failure can be repeated. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Uniform in [-scale, scale]. */
export function randomVector(length: number, random: () => number, scale = 1): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, () => (2 * random() - 1) * scale);
}

/** The largest difference, relative to the largest expected magnitude (at least `floor`). */
export function relativeError(got: ArrayLike<number>, expected: ArrayLike<number>, floor = 1e-6): number {
  if (got.length !== expected.length) return Infinity;
  let largest = floor;
  for (let i = 0; i < expected.length; i++) largest = Math.max(largest, Math.abs(expected[i] as number));
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((got[i] as number) - (expected[i] as number));
    if (!(difference <= worst)) worst = difference;
  }
  return worst / largest;
}
