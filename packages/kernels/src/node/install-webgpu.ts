/**
 * WebGPU in Node: Dawn, from the npm package `webgpu`, on whatever Vulkan driver the machine has. Must run before the
 * TensorFlow.js back end is imported.
 */
import { create, globals } from 'webgpu';

let installed: GPU | undefined;

/**
 * @param options of Dawn, such as `backend=null`; only those of the first call count.
 * @returns the GPU, which is also set as `navigator.gpu`.
 */
export function installNodeWebGpu(options: string[] = []): GPU {
  if (installed) return installed;
  Object.assign(globalThis, globals);
  installed = create(options);
  Object.defineProperty(globalThis.navigator, 'gpu', { value: installed, configurable: true });
  return installed;
}
