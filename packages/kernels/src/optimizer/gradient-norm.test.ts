/** Norms, clipping, sums and scaling in place, on real WebGPU and by the twins. */
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { gridRow } from '../kernel/kernel.ts';
import { switchOff } from '../kernel/switches.ts';
import { useDevice } from '../testing/device.ts';
import { accumulate, accumulateKernel, scaleBy, scaleByKernel } from './accumulate.ts';
import {
  clipFactor,
  clipSettings,
  gradientSumOfSquares,
  squaresKernel,
  totalKernel,
} from './gradient-norm.ts';

const present = useDevice();
let device: WebGpuDevice;
beforeAll(() => {
  ({ device } = present());
});

const names = ['sum-of-squares', 'clip-factor', 'accumulate', 'scale-by'];
const places = [
  ['WebGPU', 'webgpu', false],
  ['WebGPU without the kernels', 'webgpu', true],
  ['the CPU', 'cpu', false],
] as const;

async function goTo(backend: string, off: boolean): Promise<void> {
  await tf.setBackend(backend);
  if (off) for (const name of names) switchOff(name, 'for a test');
}

function vector(size: number, seed = 0.5): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => Math.sin(i * 0.731 + seed) * 10 ** ((i % 7) - 5));
}

function squares(values: Float32Array): number {
  return values.reduce((sum, x) => sum + x * x, 0);
}

/** Both passes, with the code for GPUs or for software adapters, into poisoned buffers. */
async function sumWith(software: boolean, values: Float32Array): Promise<number[]> {
  const traits = { ...device.kernels.traits, software };
  const x = tf.tensor1d(values);
  const partials = tf.fill([2 * 4096], NaN);
  const totals = tf.fill([2], NaN);
  device.kernels.runInto(squaresKernel(values.length, traits), [x], [partials]);
  device.kernels.runInto(totalKernel(values.length, traits, false), [partials], [totals]);
  const read = [...(await totals.data())];
  tf.dispose([x, partials, totals]);
  return read;
}

describe('gradientSumOfSquares', () => {
  it.each([true, false])('is as in float64, and the same bits each time; software %s', async (software) => {
    for (const size of [1, 2, 4, 1021, 4096, 262_147, 1_000_000]) {
      const values = vector(size);
      const [sum, flag] = await sumWith(software, values);
      expect(Math.abs((sum as number) / squares(values) - 1), `${size} values`).toBeLessThan(2e-6);
      expect(flag).toBe(0);
      expect(await sumWith(software, values)).toEqual([sum, flag]);
    }
  });

  it.each([true, false])('finds each value that is not finite; software %s', async (software) => {
    for (const size of [1027, 1028]) {
      for (const bad of [NaN, Infinity, -Infinity]) {
        for (const place of [0, 513, size - 1]) {
          const values = vector(size);
          values[place] = bad;
          expect((await sumWith(software, values))[1], `${bad} at ${place} of ${size}`).toBe(1);
        }
      }
    }
  });

  it.each(places)('adds up many tensors on %s', async (_, backend, off) => {
    await goTo(backend, off);
    const parts = [vector(300, 1), vector(17, 2), vector(1024, 3)];
    const tensors = parts.map((part, i) => (i === 0 ? tf.tensor2d(part, [3, 100]) : tf.tensor1d(part)));
    const before = tf.memory().numTensors;
    const sums = gradientSumOfSquares(tensors);
    expect(tf.memory().numTensors).toBe(before + 1);
    const expected = parts.reduce((sum, part) => sum + squares(part), 0);
    const [sum, flag] = await sums.data();
    expect(Math.abs((sum as number) / expected - 1)).toBeLessThan(2e-6);
    expect(flag).toBe(0);
    const bad = tf.tensor1d([1, Infinity]);
    for (const list of [
      [bad, ...tensors],
      [...tensors, bad],
    ]) {
      const flagged = gradientSumOfSquares(list);
      expect((await flagged.data())[1]).toBe(1);
      flagged.dispose();
    }
    tf.dispose([sums, bad, ...tensors]);
  });

  it.each(places)('flags a sum that float32 does not hold on %s', async (_, backend, off) => {
    await goTo(backend, off);
    const sums = gradientSumOfSquares(tf.tensor1d([1e19, 2e19, 1]));
    expect((await sums.data())[1]).toBe(1);
    sums.dispose();
  });
});

describe.each(places)('clipFactor on %s', (_, backend, off) => {
  it.each([
    ['below the maximum', [3, 4], 0.5, 3, 0.5],
    ['above it', [3, 4], 0.5, 1, 0.2],
    ['above it, scaled by less than zero', [3, 4], -0.5, 1, -0.2],
    ['without a maximum', [300, 400], 0.5, null, 0.5],
    ['of zeros', [0, 0], 2, 1, 2],
    ['not finite', [1, NaN], 2, 1, NaN],
  ] as const)('%s', async (_name, gradient, scale, maximum, expected) => {
    await goTo(backend, off);
    const sums = gradientSumOfSquares(tf.tensor1d([...gradient]));
    const factor = clipFactor(sums, tf.tensor1d(clipSettings(scale, maximum)));
    const [got] = await factor.data();
    if (Number.isNaN(expected)) expect(got).toBeNaN();
    else expect(got).toBeCloseTo(expected, 6);
    tf.dispose([sums, factor]);
  });
});

describe.each(places)('in place on %s', (_, backend, off) => {
  it.each([1, 6, 1000, 4099])('accumulate and scaleBy are exact: %i values', async (size) => {
    await goTo(backend, off);
    const sum = tf.variable(tf.tensor1d(vector(size, 1)));
    const addend = tf.tensor1d(vector(size, 2));
    const factor = tf.tensor1d([0.3]);
    const before = tf.memory().numTensors;
    accumulate(sum, addend);
    const added = vector(size, 1).map((x, i) => x + (vector(size, 2)[i] as number));
    expect(await sum.data()).toEqual(added);
    scaleBy(sum, factor);
    expect(await sum.data()).toEqual(added.map((x) => x * Math.fround(0.3)));
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose([sum, addend, factor]);
  });
});

it('reaches the last element of a vector that needs a grid of two dimensions', async () => {
  const size = 64 * (gridRow * 2 + 5) + 3;
  const traits = { ...device.kernels.traits, software: false };
  expect(accumulateKernel(size, traits).workgroups).toBeGreaterThan(65_535);
  const values = Float32Array.from({ length: size }, (_, i) => i % 1000);
  const sum = tf.tensor1d(values);
  const addend = tf.tensor1d(values);
  device.kernels.runInto(accumulateKernel(size, traits), [addend], [sum]);
  device.kernels.runInto(scaleByKernel(size, traits), [tf.tensor1d([0.5])], [sum]);
  const got = (await sum.data()) as Float32Array;
  expect(got.findIndex((x, i) => x !== i % 1000)).toBe(-1);
  tf.dispose([sum, addend]);
});
