/**
 * The safetensors container: an 8-byte header length, a JSON header, then the tensor bytes, little-endian.
 * The writer pads the header with spaces to 8 bytes; the reader takes any length and copies where a tensor
 * is not aligned (huggingface/safetensors, README "Format").
 */
import { z } from 'zod';
import { ProblemError } from '../problem.ts';
import { fromFloat16Bits } from './float16.ts';

export interface SafetensorEntry {
  name: string;
  dtype: string;
  shape: number[];
  /** Byte range within the data part. */
  start: number;
  end: number;
}

const entrySchema = z.object({
  dtype: z.string(),
  shape: z.array(z.number().int().nonnegative()),
  data_offsets: z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]),
});

const bytesPerElement: Record<string, number> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U8: 1,
  BOOL: 1,
};

/** Header bytes (length prefix included) of a file of contiguous float32 tensors, in the order given. */
export function safetensorsHeader(
  tensors: readonly { name: string; shape: readonly number[]; size: number }[],
  metadata: Record<string, string> = { format: 'pt' },
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = { __metadata__: metadata };
  let offset = 0;
  for (const tensor of tensors) {
    header[tensor.name] = {
      dtype: 'F32',
      shape: tensor.shape,
      data_offsets: [offset, offset + 4 * tensor.size],
    };
    offset += 4 * tensor.size;
  }
  const json = utf8(JSON.stringify(header));
  const length = Math.ceil(json.byteLength / 8) * 8;
  const bytes = new Uint8Array(8 + length).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(length), true);
  bytes.set(json, 8);
  return bytes;
}

/** ASCII only: JSON.stringify output with everything else escaped. */
function utf8(json: string): Uint8Array {
  const ascii = json.replace(
    /[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return Uint8Array.from(ascii, (c) => c.charCodeAt(0));
}

export interface SafetensorsFile {
  entries: SafetensorEntry[];
  /** Values of one tensor as float32; F32, F16, BF16 and F64 are read. */
  read(name: string): Float32Array;
}

/**
 * Opens a whole file in memory.
 * @param decodeText turns UTF-8 bytes into a string (a TextDecoder; injected, since this package has no platform).
 * @throws ProblemError INVALID_MODEL when header, offsets or sizes do not fit.
 */
export function readSafetensors(
  bytes: Uint8Array,
  decodeText: (bytes: Uint8Array) => string,
): SafetensorsFile {
  const refuse = (why: string): never => {
    throw new ProblemError('INVALID_MODEL', `Not a usable safetensors file: ${why}`);
  };
  if (bytes.byteLength < 8) refuse('shorter than its header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = Number(view.getBigUint64(0, true));
  if (headerLength > 100_000_000) refuse('its header is over 100 MB');
  if (8 + headerLength > bytes.byteLength) refuse('its header is cut off');
  let json: unknown;
  try {
    json = JSON.parse(decodeText(bytes.subarray(8, 8 + headerLength)));
  } catch {
    refuse('its header is not JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) refuse('its header is not an object');
  const dataStart = 8 + headerLength;
  const dataBytes = bytes.byteLength - dataStart;
  const entries: SafetensorEntry[] = [];
  for (const [name, value] of Object.entries(json as object)) {
    if (name === '__metadata__') continue;
    const parsed = entrySchema.safeParse(value);
    if (!parsed.success) return refuse(`tensor "${name}" has a malformed entry`);
    const { dtype, shape, data_offsets } = parsed.data;
    const [start, end] = data_offsets;
    const width = bytesPerElement[dtype];
    if (width === undefined) return refuse(`tensor "${name}" has the unknown type ${dtype}`);
    if (end < start || end > dataBytes) refuse(`tensor "${name}" lies outside the file`);
    const elements = shape.reduce((product, dimension) => product * dimension, 1);
    if (elements * width !== end - start) refuse(`tensor "${name}" has not the bytes its shape needs`);
    entries.push({ name, dtype, shape, start, end });
  }
  const byStart = [...entries].sort((a, b) => a.start - b.start);
  for (let i = 1; i < byStart.length; i++) {
    const [before, here] = [byStart[i - 1] as SafetensorEntry, byStart[i] as SafetensorEntry];
    if (here.start < before.end) refuse(`tensors "${before.name}" and "${here.name}" overlap`);
  }
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    entries,
    read(name) {
      const entry = byName.get(name) ?? refuse(`it has no tensor "${name}"`);
      const raw = bytes.slice(dataStart + entry.start, dataStart + entry.end);
      switch (entry.dtype) {
        case 'F32':
          return new Float32Array(raw.buffer);
        case 'F64':
          return Float32Array.from(new Float64Array(raw.buffer));
        case 'F16':
          return Float32Array.from(new Uint16Array(raw.buffer), fromFloat16Bits);
        case 'BF16': {
          const bits = Uint32Array.from(new Uint16Array(raw.buffer), (half) => half << 16);
          return new Float32Array(bits.buffer);
        }
        default:
          return refuse(`tensor "${name}" is ${entry.dtype}; float types only`);
      }
    },
  };
}
