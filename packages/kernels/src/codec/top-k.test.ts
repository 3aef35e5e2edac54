/** The largest magnitudes against a sort, on real WebGPU. */
import * as tf from '@tensorflow/tfjs';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { switchAllOn, switchOff } from '../kernel/switches.ts';
import { useDevice } from '../testing/device.ts';
import { topK, topKOf, topKTensors } from './top-k.ts';

const present = useDevice();
let device: WebGpuDevice;
beforeAll(() => {
  ({ device } = present());
});

/** By a sort of whole entries. */
function sorted(vector: Float32Array, k: number): [number, number][] {
  const rank = (x: number) => (Number.isNaN(x) ? Number.MAX_VALUE : x === Infinity ? 1e300 : x);
  return Array.from(vector, (value, i): [number, number] => [i, value])
    .sort((a, b) => rank(Math.abs(b[1])) - rank(Math.abs(a[1])) || a[0] - b[0])
    .slice(0, k)
    .sort((a, b) => a[0] - b[0]);
}

/** With the code for software adapters and the code for GPUs. */
async function expectTopK(vector: Float32Array, k: number): Promise<void> {
  const expected = sorted(vector, k);
  const x = tf.tensor1d(vector);
  for (const software of [true, false]) {
    const before = tf.memory().numTensors;
    const { indices, values } = topKTensors(device.kernels, x, k, { ...device.kernels.traits, software });
    expect([...(await indices.data())]).toEqual(expected.map(([i]) => i));
    expect([...(await values.data())]).toEqual(expected.map(([, value]) => value));
    tf.dispose([indices, values]);
    expect(tf.memory().numTensors).toBe(before);
  }
  x.dispose();
  const { indices, values } = topKOf(vector, k);
  expect([...indices]).toEqual(expected.map(([i]) => i));
  expect([...values]).toEqual(expected.map(([, value]) => value));
}

it('takes the largest magnitudes, of equal ones the first', async () => {
  // The kernels depend on size and k: few of them, many vectors.
  const cases = fc.constantFrom([1, 1], [7, 3], [16, 16], [1030, 20], [1030, 1030]).chain(([size, k]) => {
    const value = fc.oneof(
      fc.float({ noNaN: true }),
      fc.constantFrom(0, -0, 1, -1, 1 + 2 ** -23, 2, 1e-45, -1e-45, Infinity),
    );
    return fc
      .array(value, { minLength: size as number, maxLength: size as number, size: 'max' })
      .map((values) => ({ vector: Float32Array.from(values), k: k as number }));
  });
  await fc.assert(
    fc.asyncProperty(cases, ({ vector, k }) => expectTopK(vector, k)),
    { numRuns: 30 },
  );
});

it('takes them over many chunks with a ragged end', async () => {
  const vector = Float32Array.from({ length: 50_001 }, (_, i) => Math.fround(Math.sin(i * 0.37) ** 9));
  vector[50_000] = -3;
  await expectTopK(vector, 1234);
});

it('breaks ties by the lowest index across chunks', async () => {
  const vector = Float32Array.from({ length: 20_000 }, (_, i) =>
    i % 3 === 0 ? -0.5 : i % 1000 === 1 ? 0.75 : 0.25,
  );
  await expectTopK(vector, 5000);
});

it('takes all of a vector of zeros by index', async () => {
  await expectTopK(new Float32Array(9000), 4500);
});

it('takes NaN first', async () => {
  const vector = new Float32Array(300).fill(1);
  vector[7] = Infinity;
  vector[200] = NaN;
  await expectTopK(vector, 1);
});

it('gives the same of a million values each time', async () => {
  const vector = Float32Array.from({ length: 1_000_000 }, (_, i) => Math.sin(i * 1.618) * Math.cos(i * 0.77));
  const x = tf.tensor1d(vector);
  const expected = topKOf(vector, 10_000);
  for (let i = 0; i < 2; i++) expect(await topK(x, 10_000)).toEqual(expected);
  x.dispose();
});

it('is there on other back ends, and where the kernel is switched off', async () => {
  const vector = Float32Array.of(1, -5, 2, 5, 0);
  const expected = { indices: Int32Array.of(1, 3), values: Float32Array.of(-5, 5) };
  switchOff('top-k', 'for a test');
  expect(await topK(tf.tensor1d(vector), 2)).toEqual(expected);
  switchAllOn();
  await tf.setBackend('cpu');
  expect(await topK(tf.tensor1d(vector), 2)).toEqual(expected);
});

it('refuses a count that the vector has not', async () => {
  const x = tf.tensor1d([1, 2]);
  for (const k of [0, 3, 1.5]) {
    expect(() => topKTensors(device.kernels, x, k)).toThrow(RangeError);
    expect(() => topKOf(Float32Array.of(1, 2), k)).toThrow(RangeError);
  }
  x.dispose();
});
