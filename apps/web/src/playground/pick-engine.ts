/** Which back end generates: a token at a time, a small model is quicker on the CPU than the way to a GPU is. */
import { countParameters, type DeviceReport, type Gpt2Config } from '@tabweave/shared';
import { createEngine, type Engine } from '@tabweave/trainer';
import { wasmFiles } from '../volunteer/wasm-files.ts';

const smallModel = 5_000_000;

/** @throws Error in words when no back end works here. */
export async function pickEngine(config: Gpt2Config): Promise<Engine> {
  const onCpu = (): Promise<Engine> => createEngine({ backend: 'wasm', wasmPath: wasmFiles });
  if (countParameters(config) < smallModel) return onCpu();
  const engine = await createEngine({ backend: 'auto', wasmPath: wasmFiles });
  if (!isSoftware(engine.report)) return engine;
  engine.dispose();
  return onCpu();
}

/** A graphics interface without a GPU behind it is slower than WASM; WebGL tells it by its renderer's name only. */
function isSoftware({ backend, software, adapter }: DeviceReport): boolean {
  if (backend === 'wasm') return false;
  return software || /swiftshader|llvmpipe|software|basic render/i.test(adapter);
}
