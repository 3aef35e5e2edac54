/**
 * One piece of a tensor on the wire: a 32-byte little-endian header, then the payload. The same frame serves
 * every transport.
 *
 * | bytes | field |
 * | --- | --- |
 * | 0..3 | magic `TWF1` |
 * | 4..7 | reserved, zero |
 * | 8..15 | lease, unsigned 64 bit |
 * | 16..19 | index of this frame, from 0 |
 * | 20..23 | number of frames |
 * | 24..27 | payload bytes |
 * | 28..31 | CRC-32 of the payload |
 */
import { limits } from '../limits.ts';
import { ProblemError } from '../problem.ts';
import { crc32 } from './crc32.ts';

export const frameHeaderBytes = 32;
const magic = 0x31465754;

export interface Frame {
  lease: number;
  index: number;
  count: number;
  payload: Uint8Array;
}

export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(frameHeaderBytes + frame.payload.byteLength);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, magic, true);
  view.setBigUint64(8, BigInt(frame.lease), true);
  view.setUint32(16, frame.index, true);
  view.setUint32(20, frame.count, true);
  view.setUint32(24, frame.payload.byteLength, true);
  view.setUint32(28, crc32(frame.payload), true);
  bytes.set(frame.payload, frameHeaderBytes);
  return bytes;
}

/** @throws ProblemError INVALID_INPUT when the bytes are not a whole, undamaged frame. */
export function decodeFrame(bytes: Uint8Array): Frame {
  const refuse = (why: string): never => {
    throw new ProblemError('INVALID_INPUT', `Not a usable tensor frame: ${why}`);
  };
  if (bytes.byteLength < frameHeaderBytes) refuse(`${bytes.byteLength} bytes, shorter than its header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== magic) refuse('it does not begin with TWF1');
  const payloadBytes = view.getUint32(24, true);
  if (payloadBytes > limits.frameBytes) refuse(`payload of ${payloadBytes} bytes, over ${limits.frameBytes}`);
  if (payloadBytes !== bytes.byteLength - frameHeaderBytes) {
    refuse(`the header says ${payloadBytes} payload bytes, there are ${bytes.byteLength - frameHeaderBytes}`);
  }
  const index = view.getUint32(16, true);
  const count = view.getUint32(20, true);
  if (index >= count) refuse(`frame ${index} of ${count}`);
  const payload = bytes.subarray(frameHeaderBytes);
  if (crc32(payload) !== view.getUint32(28, true)) refuse('its checksum does not match');
  return { lease: Number(view.getBigUint64(8, true)), index, count, payload };
}

/** Frames that `bytes` of payload are cut into. */
export function frameCount(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / limits.frameBytes));
}
