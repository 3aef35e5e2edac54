/** Bytes packed by the device against those of @tabweave/shared, on real WebGPU. */
import * as tf from '@tensorflow/tfjs';
import { decodeVector, encodedBytes, encodeVector } from '@tabweave/shared';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { DeviceTraits } from '../kernel/kernel.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { useDevice } from '../testing/device.ts';
import { packFloat16Kernel, unpackFloat16Kernel } from './float16-kernels.ts';
import { packInt8Kernel, unpackInt8Kernel } from './int8-kernels.ts';
import { packedBytes, packedWords, wordsOf, type PackedEncoding } from './pack.ts';

const present = useDevice();
let runtime: KernelRuntime;
beforeAll(() => {
  ({ runtime } = present());
});

/** Code for software adapters and code for GPUs; both must be right on whichever runs the test. */
const variants = [true, false];
const encodings = ['float16', 'int8'] as const;

function traits(software: boolean): DeviceTraits {
  return { ...runtime.traits, software };
}

function fromBits(bits: ArrayLike<number>): Float32Array {
  return new Float32Array(Uint32Array.from(bits).buffer);
}

/** Whatever it is given as floats, it is compared as bits. */
function bitsOf(vector: Float32Array): Uint32Array {
  return new Uint32Array(vector.buffer, vector.byteOffset, vector.length);
}

async function pack(source: Float32Array, encoding: PackedEncoding, software: boolean): Promise<Uint8Array> {
  const make = encoding === 'int8' ? packInt8Kernel : packFloat16Kernel;
  const x = tf.tensor1d(source);
  const poison = new Int32Array(packedWords(source.length, encoding)).fill(0x5a5a5a5a);
  const words = tf.tensor1d(poison, 'int32');
  runtime.runInto(make(source.length, traits(software), 'none'), [x], [words]);
  const read = (await words.data()) as Int32Array;
  tf.dispose([x, words]);
  const filling = new Uint8Array(read.buffer).subarray(encodedBytes(source.length, encoding));
  expect([...filling]).toEqual(Array(filling.length).fill(0));
  return packedBytes(read, source.length, encoding);
}

async function unpack(bytes: Uint8Array, elements: number, encoding: PackedEncoding, software: boolean) {
  const make = encoding === 'int8' ? unpackInt8Kernel : unpackFloat16Kernel;
  const words = tf.tensor1d(wordsOf(bytes), 'int32');
  const vector = tf.tensor1d(new Float32Array(elements).fill(12345));
  runtime.runInto(make(elements, traits(software)), [words], [vector]);
  const read = (await vector.data()) as Float32Array;
  tf.dispose([words, vector]);
  return read;
}

async function expectSame(source: Float32Array, encoding: PackedEncoding): Promise<void> {
  const expected = encodeVector(source, encoding);
  for (const software of variants) {
    const got = await pack(source, encoding, software);
    const wrong = got.findIndex((byte, i) => byte !== expected[i]);
    expect(wrong, `first wrong byte of ${source.length} values, software ${software}`).toBe(-1);
    expect(got.length).toBe(expected.length);
  }
}

/** Few sizes, so that few pipelines are compiled; multiples of four, others, one block, several. */
const sizes = [1, 3, 4, 255, 256, 257, 1000, 1023];
const someSize = fc.constantFrom(...sizes);
const anyBits = fc.oneof(
  fc.integer({ min: 0, max: 0xffff_ffff }),
  // All of one size, as gradients are, and denormals.
  fc.integer({ min: 0x3a00_0000, max: 0x3c00_0000 }),
  fc.integer({ min: 0, max: 0x0080_0000 }).map((bits) => (bits | 0x8000_0000) >>> 0),
);

function vectors(bits: fc.Arbitrary<number>): fc.Arbitrary<Float32Array> {
  return someSize.chain((size) =>
    fc.array(bits, { minLength: size, maxLength: size, size: 'max' }).map(fromBits),
  );
}

/** NaN and infinity would leave the rest of a block untested. */
const finite = anyBits.filter((bits) => (bits & 0x7f80_0000) !== 0x7f80_0000);

describe.each(encodings)('%s', (encoding) => {
  it('packs any bits as encodeVector does', async () => {
    await fc.assert(
      fc.asyncProperty(vectors(anyBits), (source) => expectSame(source, encoding)),
      { numRuns: 25 },
    );
  });

  it('packs finite values as encodeVector does', async () => {
    await fc.assert(
      fc.asyncProperty(vectors(finite), (source) => expectSame(source, encoding)),
      { numRuns: 25 },
    );
  });

  it('unpacks any bytes as decodeVector does', async () => {
    const bytes = someSize.chain((size) =>
      fc
        .array(fc.integer({ min: 0, max: 0xffff_ffff }), {
          minLength: packedWords(size, encoding),
          maxLength: packedWords(size, encoding),
          size: 'max',
        })
        .map((words) => ({
          size,
          bytes: new Uint8Array(Uint32Array.from(words).buffer, 0, encodedBytes(size, encoding)),
        })),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async ({ size, bytes: encoded }) => {
        const expected = new Float32Array(size);
        decodeVector(encoded, encoding, expected);
        for (const software of variants) {
          const got = await unpack(encoded, size, encoding, software);
          // Which NaN it is says nothing.
          expect(bitsOf(got.map((x) => x))).toEqual(bitsOf(expected.map((x) => (Number.isNaN(x) ? NaN : x))));
        }
      }),
      { numRuns: 25 },
    );
  });

  it('packs a long vector with a ragged end', async () => {
    const source = Float32Array.from(
      { length: 100_003 },
      (_, i) => Math.sin(i * 1.7) * 10 ** ((i % 23) / 3 - 6),
    );
    await expectSame(source, encoding);
  });
});

describe('float16', () => {
  it('rounds every kind of edge as the wire does', async () => {
    const edges = [
      0,
      -0,
      65504,
      65519.996,
      65520,
      65536,
      3.4e38,
      Infinity,
      -Infinity,
      NaN,
      2049,
      2051,
      1e-45,
    ];
    const small = Array.from({ length: 60 }, (_, i) => 2 ** (-30 + i / 2) * (1 + (i % 3) * 2 ** -11));
    const ties = [
      2 ** -25,
      2 ** -25 * (1 + 2 ** -23),
      2 ** -24 * 1.5,
      2 ** -14,
      2 ** -14 - 2 ** -25,
      2 ** -15,
    ];
    const source = Float32Array.from([...edges, ...small, ...ties].flatMap((x) => [x, -x]));
    await expectSame(source, 'float16');
  });

  it('takes every half there and back', async () => {
    const halves = Uint16Array.from({ length: 0x10000 }, (_, i) => i);
    const bytes = new Uint8Array(halves.buffer);
    const vector = await unpack(bytes, halves.length, 'float16', false);
    const back = new Uint16Array((await pack(vector, 'float16', false)).slice().buffer);
    const nan = (bits: number) => (bits & 0x7c00) === 0x7c00 && (bits & 0x3ff) !== 0;
    expect(back.findIndex((bits, i) => (nan(i) ? !nan(bits) : bits !== i))).toBe(-1);
  });
});

describe('int8', () => {
  it('rounds halves upwards, as Math.round', async () => {
    // Scale 2 ** -3: multiples of 1 / 16, of which every other lies half-way.
    const source = Float32Array.from(
      { length: 512 },
      (_, i) => Math.max(-127, Math.min(127, (i - 256) / 2)) / 8,
    );
    source[0] = source[511] = 127 / 8;
    await expectSame(source, 'int8');
  });

  it('is exact close to every rounding border of awkward scales', async () => {
    const blocks = Array.from({ length: 64 }, (_, block) => {
      const values = new Float32Array(256);
      const scale = Math.fround((1 + block / 64.7) * 2 ** ((block % 9) * 13 - 60));
      values[0] = Math.fround(127 * scale);
      for (let i = 1; i < 256; i++) {
        const border = bitsOf(Float32Array.of((i - 128 + 0.5) * scale));
        border[0] = (border[0] as number) + (block % 3) - 1;
        values[i] = new Float32Array(border.buffer)[0] as number;
      }
      values[255] = Math.fround(-126.9 * scale);
      return values;
    });
    await expectSame(Float32Array.from(blocks.flatMap((block) => [...block])), 'int8');
  });

  it('knows the blocks that have no usual scale', async () => {
    const blocks = [
      [0, -0],
      [1, NaN, Infinity],
      [1, -Infinity, 2],
      [3.4e38, 1e38, -3.3e38],
      [3.4028234663852886e38, -3.4028234663852886e38, 1e37],
      [1e-45, -1e-45],
      [1.4e-45 * 63, 1.4e-45 * 64, -1.4e-45 * 64],
      [1.4e-45 * 190, -1.4e-45 * 189, 1.4e-45 * 100],
      [1e-39, -5e-40, 3e-41],
      [1.2e-38, 1.1754943508222875e-38, -3e-39],
    ];
    const source = new Float32Array(blocks.length * 256);
    blocks.forEach((block, b) => source.set(block, b * 256 + 7));
    await expectSame(source, 'int8');
  });
});
