/** Reads an exported checkpoint as any other program would: a zip with Hugging Face's files. */
import {
  gpt2Layout,
  parseGpt2Config,
  readSafetensors,
  type Gpt2Config,
  type SafetensorsFile,
} from '@tabweave/shared';
import { unzipSync } from 'fflate';

export interface Checkpoint {
  files: string[];
  config: Gpt2Config;
  tensors: SafetensorsFile;
  /** Float32 values in the order of the shared parameter layout. */
  parameters: Float32Array;
}

/** @throws Error when a file or a tensor is missing or has another shape than the layout says. */
export function readCheckpoint(zip: Uint8Array): Checkpoint {
  const files = unzipSync(zip);
  const utf8 = new TextDecoder();
  const file = (name: string): Uint8Array => {
    const bytes = files[name];
    if (!bytes) throw new Error(`the checkpoint has no ${name}, only ${Object.keys(files).join(', ')}`);
    return bytes;
  };
  const { config } = parseGpt2Config(JSON.parse(utf8.decode(file('config.json'))));
  const tensors = readSafetensors(file('model.safetensors'), (bytes) => utf8.decode(bytes));
  const layout = gpt2Layout(config);
  const parameters = new Float32Array(layout.size);
  for (const { name, shape, offset } of layout.tensors) {
    const entry = tensors.entries.find((candidate) => candidate.name === name);
    if (String(entry?.shape) !== String(shape)) {
      throw new Error(`${name} is [${String(entry?.shape)}], not [${shape.join(',')}]`);
    }
    parameters.set(tensors.read(name), offset);
  }
  return { files: Object.keys(files).sort(), config, tensors, parameters };
}
