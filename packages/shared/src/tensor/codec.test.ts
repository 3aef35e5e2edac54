import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeVector, encodeVector, encodedBytes, int8Block } from './codec.ts';
import { fromFloat16Bits, packFloat16, toFloat16Bits, unpackFloat16 } from './float16.ts';

const finite = fc.float({ noNaN: true, noDefaultInfinity: true });
const vectors = fc
  .array(finite, { minLength: 1, maxLength: 1000 })
  .map((values) => Float32Array.from(values));

describe('float16', () => {
  it('converts every bit pattern there and back', () => {
    for (let bits = 0; bits < 0x10000; bits++) {
      const value = fromFloat16Bits(bits);
      if (Number.isNaN(value)) expect(Number.isNaN(fromFloat16Bits(toFloat16Bits(value)))).toBe(true);
      else expect(toFloat16Bits(value)).toBe(bits);
    }
  });

  it('rounds as the platform does, and as our own conversion', () => {
    fc.assert(
      fc.property(fc.array(fc.float(), { minLength: 1, maxLength: 200 }), (values) => {
        const source = Float32Array.from(values);
        const [native, own] = [new Uint8Array(2 * source.length), new Uint8Array(2 * source.length)];
        packFloat16(source, native);
        packFloat16(source, own, false);
        const [a, b] = [new Float32Array(source.length), new Float32Array(source.length)];
        unpackFloat16(native, a);
        unpackFloat16(own, b, false);
        expect(b).toEqual(a);
      }),
    );
  });

  it('rounds halves to even and overflows to infinity', () => {
    expect(fromFloat16Bits(toFloat16Bits(2049))).toBe(2048);
    expect(fromFloat16Bits(toFloat16Bits(2051))).toBe(2052);
    expect(fromFloat16Bits(toFloat16Bits(65519))).toBe(65504);
    expect(fromFloat16Bits(toFloat16Bits(65520))).toBe(Infinity);
    expect(fromFloat16Bits(toFloat16Bits(2 ** -25))).toBe(0);
    expect(fromFloat16Bits(toFloat16Bits(2 ** -25 * 1.001))).toBe(2 ** -24);
  });
});

describe('vectors on the wire', () => {
  it('takes 4, 2 and little more than 1 byte a value', () => {
    expect(encodedBytes(25_000_000, 'float32')).toBe(100_000_000);
    expect(encodedBytes(25_000_000, 'float16')).toBe(50_000_000);
    expect(encodedBytes(25_000_000, 'int8')).toBe(25_000_000 + 4 * Math.ceil(25_000_000 / 256));
  });

  it('float32 is exact', () => {
    fc.assert(
      fc.property(vectors, (source) => {
        const target = new Float32Array(source.length);
        decodeVector(encodeVector(source, 'float32'), 'float32', target);
        expect(target).toEqual(source);
      }),
    );
  });

  it('int8 is off by at most half a step of its block', () => {
    fc.assert(
      fc.property(vectors, (source) => {
        const target = new Float32Array(source.length);
        decodeVector(encodeVector(source, 'int8'), 'int8', target);
        for (let i = 0; i < source.length; i++) {
          const block = Math.floor(i / int8Block) * int8Block;
          const largest = Math.max(...source.subarray(block, block + int8Block).map(Math.abs));
          // Half a quantisation step, the rounding of the scale, and the smallest float where all is denormal.
          const bound = (largest / 127) * 0.5001 + largest * 1e-6 + 127 * 1.5e-45;
          expect(Math.abs((target[i] as number) - (source[i] as number))).toBeLessThanOrEqual(bound);
        }
      }),
    );
  });

  it.each(['float32', 'float16', 'int8'] as const)('%s lets a NaN be seen by the receiver', (encoding) => {
    const source = new Float32Array(600).fill(1);
    source[300] = NaN;
    const target = new Float32Array(600);
    decodeVector(encodeVector(source, encoding), encoding, target);
    expect(target.some((value) => Number.isNaN(value))).toBe(true);
    expect(target[0]).toBeCloseTo(1, 2);
  });

  it('refuses any other length by its numbers, and reads from unaligned views', () => {
    expect(() => decodeVector(new Uint8Array(7), 'float32', new Float32Array(2))).toThrow(
      '2 values as float32 take 8 bytes, not 7',
    );
    const shifted = new Uint8Array(9);
    shifted.set(encodeVector(Float32Array.of(1.5, -2), 'float32'), 1);
    const target = new Float32Array(2);
    decodeVector(shifted.subarray(1), 'float32', target);
    expect([...target]).toEqual([1.5, -2]);
  });
});
