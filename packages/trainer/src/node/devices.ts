/** What the engine needs of the host in Node: where the WASM files are, and WebGPU, which Node does not have. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of the WASM back end's files, ending in a separator, as TensorFlow.js wants it. */
export function wasmFolder(): string {
  const main = createRequire(import.meta.url).resolve('@tensorflow/tfjs-backend-wasm');
  return join(dirname(main), '/');
}

/**
 * WebGPU in Node, to be called before TensorFlow.js is imported.
 * @throws where Dawn has no build for this platform.
 */
export async function nodeWebGpu(): Promise<GPU> {
  const { installNodeWebGpu } = await import('@tabweave/kernels/node');
  return installNodeWebGpu();
}
