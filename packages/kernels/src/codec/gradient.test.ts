/** Packing with error feedback: what arrives and what is left, on WebGPU and on another back end. */
import * as tf from '@tensorflow/tfjs';
import { decodeVector, encodedBytes, encodeVector } from '@tabweave/shared';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { switchOff } from '../kernel/switches.ts';
import { useDevice } from '../testing/device.ts';
import {
  decodeToTensor,
  encodeGradient,
  packedFinite,
  packGradient,
  packVector,
  unpackVector,
} from './pack.ts';

const present = useDevice();
let device: WebGpuDevice;
beforeAll(() => {
  ({ device } = present());
});

const encodings = ['float16', 'int8'] as const;
const elements = 3 * 256 + 77;

function gradientOf(step: number): Float32Array {
  return Float32Array.from({ length: elements }, (_, i) => Math.sin(i * (1.3 + step)) * 10 ** ((i % 5) - 4));
}

/** The trainer's rule, in plain numbers. */
function reference(gradient: Float32Array, residual: Float32Array | null, encoding: 'float16' | 'int8') {
  const sum = gradient.map((value, i) => value + (residual?.[i] ?? 0));
  const bytes = encodeVector(sum, encoding);
  const arrived = new Float32Array(sum.length);
  decodeVector(bytes, encoding, arrived);
  return { bytes, residual: sum.map((value, i) => value - (arrived[i] as number)) };
}

describe.each(encodings)('%s', (encoding) => {
  it.each([
    ['WebGPU', 'webgpu', false],
    ['WebGPU without the kernel', 'webgpu', true],
    ['the CPU', 'cpu', false],
  ])('carries the residual from step to step on %s', async (_, backend, off) => {
    await tf.setBackend(backend);
    if (off) switchOff(`pack-${encoding}`, 'for a test');
    const before = tf.memory().numTensors;
    let expected: { bytes: Uint8Array; residual: Float32Array } | null = null;
    let residual: tf.Tensor1D | null = null;
    for (let step = 0; step < 4; step++) {
      const sum = tf.tensor1d(gradientOf(step));
      const got = await encodeGradient(sum, residual, encoding);
      tf.dispose([sum, ...(residual ? [residual] : [])]);
      expected = reference(gradientOf(step), expected?.residual ?? null, encoding);
      expect(got.bytes, `bytes of step ${step}`).toEqual(expected.bytes);
      expect(await got.residual.data()).toEqual(expected.residual);
      residual = got.residual;
    }
    residual?.dispose();
    expect(tf.memory().numTensors).toBe(before);
  });

  it('reads back no more than the packed bytes', async () => {
    const sum = tf.tensor1d(gradientOf(0));
    const { words, residual } = packGradient(device.kernels, sum, null, encoding);
    expect(words.size * 4 - encodedBytes(elements, encoding)).toBeLessThan(4);
    tf.dispose([sum, words, residual]);
  });

  it('lets values that are not finite be seen', async () => {
    for (const bad of [NaN, Infinity, -Infinity]) {
      const values = gradientOf(0);
      values[300] = bad;
      const sum = tf.tensor1d(values);
      const carried = tf.tensor1d(gradientOf(1));
      for (const residual of [null, carried]) {
        const got = await encodeGradient(sum, residual, encoding);
        expect(packedFinite(got.bytes, elements, encoding)).toBe(false);
        expect(Number.isFinite((await got.residual.data())[300])).toBe(false);
        got.residual.dispose();
      }
      tf.dispose([sum, carried]);
    }
    expect(packedFinite(encodeVector(gradientOf(0), encoding), elements, encoding)).toBe(true);
  });

  it('unpacks what it has packed, on the device', async () => {
    const vector = tf.tensor1d(gradientOf(2));
    const words = packVector(device.kernels, vector, encoding);
    const back = unpackVector(device.kernels, words, elements, encoding);
    const expected = new Float32Array(elements);
    decodeVector(encodeVector(gradientOf(2), encoding), encoding, expected);
    expect(await back.data()).toEqual(expected);
    tf.dispose([vector, words, back]);
  });
});

it('a finite value too large for float16 is seen', async () => {
  const sum = tf.tensor1d([1, 65520, 3]);
  const got = await encodeGradient(sum, null, 'float16');
  expect(packedFinite(got.bytes, 3, 'float16')).toBe(false);
  expect(Number.isFinite((await got.residual.data())[1])).toBe(false);
  tf.dispose([sum, got.residual]);
});

describe('decodeToTensor', () => {
  it.each([
    ['float32', 'webgpu'],
    ['float16', 'webgpu'],
    ['int8', 'webgpu'],
    ['float16', 'cpu'],
    ['int8', 'cpu'],
  ] as const)('%s on %s', async (encoding, backend) => {
    await tf.setBackend(backend);
    const bytes = encodeVector(gradientOf(3), encoding);
    const expected = new Float32Array(elements);
    decodeVector(bytes, encoding, expected);
    const tensor = decodeToTensor(bytes, elements, encoding);
    expect(await tensor.data()).toEqual(expected);
    expect(() => decodeToTensor(bytes.subarray(1), elements, encoding)).toThrow(RangeError);
    tensor.dispose();
  });
});
