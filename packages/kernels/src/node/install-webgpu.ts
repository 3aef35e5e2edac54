/**
 * WebGPU in Node: Dawn, from the npm package `webgpu`, on whatever Vulkan driver the machine has. Must run before the
 * TensorFlow.js back end is imported.
 */
import { create, globals } from 'webgpu';

let installed: GPU | undefined;

/** @returns the GPU, which is also set as `navigator.gpu`. */
export function installNodeWebGpu(): GPU {
  if (installed) return installed;
  Object.assign(globalThis, globals);
  installed = create([]);
  Object.defineProperty(globalThis.navigator, 'gpu', { value: installed, configurable: true });
  return installed;
}
