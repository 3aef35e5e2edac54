/**
 * How a float32 vector travels: float32 and float16 as they are, int8 in blocks of 256 values that share one
 * float32 scale (absolute maximum / 127). All little-endian. int8 layout: all scales, then all values.
 */
import { z } from 'zod';
import { packFloat16, unpackFloat16 } from './float16.ts';

export const encodingSchema = z.enum(['float32', 'float16', 'int8']);
export type Encoding = z.infer<typeof encodingSchema>;
export const parameterEncodingSchema = z.enum(['float32', 'float16']);
export type ParameterEncoding = z.infer<typeof parameterEncodingSchema>;

export const int8Block = 256;

/** Bytes that `elements` values take on the wire. */
export function encodedBytes(elements: number, encoding: Encoding): number {
  switch (encoding) {
    case 'float32':
      return 4 * elements;
    case 'float16':
      return 2 * elements;
    case 'int8':
      return 4 * Math.ceil(elements / int8Block) + elements;
  }
}

export function encodeVector(source: Float32Array, encoding: Encoding): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(encodedBytes(source.length, encoding));
  switch (encoding) {
    case 'float32':
      new Float32Array(bytes.buffer).set(source);
      break;
    case 'float16':
      packFloat16(source, bytes);
      break;
    case 'int8':
      packInt8(source, bytes);
      break;
  }
  return bytes;
}

/**
 * Decodes into `target`, whose length says how many elements there are.
 * @throws RangeError when `bytes` has not the exact length that the encoding needs.
 */
export function decodeVector(bytes: Uint8Array, encoding: Encoding, target: Float32Array): void {
  const expected = encodedBytes(target.length, encoding);
  if (bytes.byteLength !== expected) {
    throw new RangeError(
      `${target.length} values as ${encoding} take ${expected} bytes, not ${bytes.byteLength}`,
    );
  }
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  switch (encoding) {
    case 'float32':
      target.set(new Float32Array(aligned.buffer, aligned.byteOffset, target.length));
      break;
    case 'float16':
      unpackFloat16(aligned, target);
      break;
    case 'int8':
      unpackInt8(aligned, target);
      break;
  }
}

function packInt8(source: Float32Array, bytes: Uint8Array): void {
  const blocks = Math.ceil(source.length / int8Block);
  const scales = new Float32Array(bytes.buffer, bytes.byteOffset, blocks);
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + 4 * blocks, source.length);
  for (let block = 0; block < blocks; block++) {
    const start = block * int8Block;
    const end = Math.min(start + int8Block, source.length);
    let maximum = 0;
    for (let i = start; i < end; i++) {
      const magnitude = Math.abs(source[i] as number);
      // Nothing compares with NaN: it becomes the scale, so that the receiver sees it.
      if (Number.isNaN(magnitude)) {
        maximum = NaN;
        break;
      }
      if (magnitude > maximum) maximum = magnitude;
    }
    // Below the largest float by a hair: 127 times the rounded scale must not overflow.
    const scale = Math.fround((maximum > 3.4e38 && maximum < Infinity ? 3.4e38 : maximum) / 127);
    scales[block] = scale;
    if (scale === 0) continue;
    for (let i = start; i < end; i++) {
      const quotient = Math.round((source[i] as number) / scale);
      values[i] = quotient > 127 ? 127 : quotient < -127 ? -127 : quotient;
    }
  }
}

function unpackInt8(bytes: Uint8Array, target: Float32Array): void {
  const blocks = Math.ceil(target.length / int8Block);
  const scales = new Float32Array(bytes.buffer, bytes.byteOffset, blocks);
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + 4 * blocks, target.length);
  for (let i = 0; i < target.length; i++) {
    target[i] = (values[i] as number) * (scales[(i / int8Block) | 0] as number);
  }
}
