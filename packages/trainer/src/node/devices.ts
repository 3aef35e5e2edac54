/** What the engine needs of the host in Node: where the WASM files are, and WebGPU, which Node does not have. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of the WASM back end's files, ending in a separator, as TensorFlow.js wants it. */
export function wasmFolder(): string {
  const main = createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm');
  return join(dirname(main), '/');
}

/**
 * Dawn's WebGPU, with its constants made global; to be called before TensorFlow.js is imported.
 * @throws where it has no build for this platform.
 */
export async function nodeWebGpu(): Promise<GPU> {
  const { create, globals } = await import('webgpu');
  Object.assign(globalThis, globals);
  const gpu = create([]);
  Object.defineProperty(globalThis.navigator, 'gpu', { value: gpu, configurable: true });
  return gpu;
}
