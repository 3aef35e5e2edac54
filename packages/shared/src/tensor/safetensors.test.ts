import { describe, expect, it } from 'vitest';
import { readSafetensors, safetensorsHeader } from './safetensors.ts';

const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

function file(header: unknown, data: Uint8Array, pad = 0): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header) + ' '.repeat(pad));
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

const floats = (...values: number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);

describe('safetensors', () => {
  it('reads what it writes, and starts its data on 8 bytes', () => {
    const tensors = [
      { name: 'a', shape: [2, 2], size: 4 },
      { name: 'ü "quoted"', shape: [3], size: 3 },
    ];
    const header = safetensorsHeader(tensors);
    expect(header.length % 8).toBe(0);
    const bytes = new Uint8Array([...header, ...floats(1, 2, 3, 4, 5, 6, 7)]);
    const read = readSafetensors(bytes, decode);
    expect([...read.read('a')]).toEqual([1, 2, 3, 4]);
    expect([...read.read('ü "quoted"')]).toEqual([5, 6, 7]);
    expect(read.entries.map((entry) => entry.shape)).toEqual([[2, 2], [3]]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'reads tensors at any alignment (header pad %i, an odd tensor before)',
    (pad) => {
      const header = {
        odd: { dtype: 'U8', shape: [3], data_offsets: [0, 3] },
        x: { dtype: 'F32', shape: [2], data_offsets: [3, 11] },
      };
      const bytes = file(header, new Uint8Array([9, 9, 9, ...floats(0.5, -8)]), pad);
      const shifted = new Uint8Array(bytes.length + 3);
      shifted.set(bytes, 3);
      expect([...readSafetensors(shifted.subarray(3), decode).read('x')]).toEqual([0.5, -8]);
    },
  );

  it('widens F16, BF16 and F64', () => {
    const data = new Uint8Array([0x00, 0x3e, 0x40, 0xc0, ...new Uint8Array(Float64Array.of(0.25).buffer)]);
    const read = readSafetensors(
      file(
        {
          half: { dtype: 'F16', shape: [1], data_offsets: [0, 2] },
          brain: { dtype: 'BF16', shape: [1], data_offsets: [2, 4] },
          double: { dtype: 'F64', shape: [1], data_offsets: [4, 12] },
        },
        data,
      ),
      decode,
    );
    expect([read.read('half')[0], read.read('brain')[0], read.read('double')[0]]).toEqual([1.5, -3, 0.25]);
  });

  it.each([
    ['a cut header', file({ a: 1 }, new Uint8Array()).subarray(0, 10), 'cut off'],
    ['no JSON', new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 65, 66]), 'not JSON'],
    ['a list', file([1], new Uint8Array()), 'not an object'],
    [
      'a tensor outside',
      file({ a: { dtype: 'F32', shape: [4], data_offsets: [0, 16] } }, floats(1)),
      'outside the file',
    ],
    [
      'overlapping tensors',
      file(
        {
          a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
          b: { dtype: 'F32', shape: [2], data_offsets: [4, 12] },
        },
        floats(1, 2, 3),
      ),
      'overlap',
    ],
    [
      'a wrong size',
      file({ a: { dtype: 'F32', shape: [3], data_offsets: [0, 8] } }, floats(1, 2)),
      'has not the bytes',
    ],
    ['a huge header', new Uint8Array([0, 0, 0, 0, 1, 0, 0, 0, 0]), 'over 100 MB'],
  ])('refuses %s in words', (_, bytes, words) => {
    expect(() => readSafetensors(bytes, decode)).toThrow(words);
  });
});
