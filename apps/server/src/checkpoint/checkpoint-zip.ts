/** A checkpoint as a zip of Hugging Face files, streamed: tensors are stored uncompressed, as they hardly shrink. */
import { Readable } from 'node:stream';
import { gpt2Layout, safetensorsHeader, toGpt2ConfigJson } from '@tabweave/shared';
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate';
import type { RunDefinition } from '../runs/definition.ts';

export interface CheckpointFiles {
  definition: RunDefinition;
  version: number;
  /** [layout.size] */
  parameters: Float32Array;
  tokenizerJson: string;
}

const pieceBytes = 1 << 20;

/** Backed by a generator, so that no more than a piece is ahead of the reader. */
export function checkpointZip(files: CheckpointFiles): Readable {
  return Readable.from(zipPieces(files), { objectMode: false });
}

async function* zipPieces(files: CheckpointFiles): AsyncGenerator<Uint8Array> {
  const { definition, parameters, version } = files;
  const ready: Uint8Array[] = [];
  const zip = new Zip((error, piece) => {
    if (error) throw error;
    if (piece.length > 0) ready.push(piece);
  });
  const text = (name: string, content: string): void => {
    const entry = new ZipDeflate(name, { level: 6 });
    zip.add(entry);
    entry.push(Buffer.from(content), true);
  };
  text('config.json', JSON.stringify(toGpt2ConfigJson(definition.config), null, 2));
  text('tokenizer.json', files.tokenizerJson);
  text(
    'tokenizer_config.json',
    JSON.stringify(
      {
        tokenizer_class: 'PreTrainedTokenizerFast',
        model_max_length: definition.config.positions,
        clean_up_tokenization_spaces: false,
      },
      null,
      2,
    ),
  );
  yield* ready.splice(0);
  const tensors = new ZipPassThrough('model.safetensors');
  zip.add(tensors);
  const metadata = { format: 'pt', producer: 'tabweave', run: definition.id, step: String(version) };
  tensors.push(safetensorsHeader(gpt2Layout(definition.config).tensors, metadata));
  const bytes = new Uint8Array(parameters.buffer, parameters.byteOffset, parameters.byteLength);
  for (let start = 0; start < bytes.byteLength; start += pieceBytes) {
    tensors.push(bytes.subarray(start, start + pieceBytes), start + pieceBytes >= bytes.byteLength);
    yield* ready.splice(0);
    // A checkpoint of hundreds of megabytes must not hold up sockets: CRC and copying are synchronous.
    await new Promise((resolve) => setImmediate(resolve));
  }
  zip.end();
  yield* ready;
}
