/** Reductions and softmax of TensorFlow.js on our kernels, against its plain JavaScript back end. */
import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { KernelRuntime, registerRuntime } from '../kernel/runtime.ts';
import { switchAllOn, switchOff } from '../kernel/switches.ts';
import { reducedGroups } from '../overrides/reductions.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from '../testing/device.ts';
import { reduceChunks, reduceKernels, sumOnce } from './reduce.ts';

const present = useDevice();

const forms: Record<string, Partial<DeviceTraits>> = {
  'a software adapter': { software: true },
  'a GPU without subgroups': { software: false, subgroups: false },
  'a GPU with subgroups': { software: false },
};

/** Runs `work` with a runtime of other traits, and tells which kernels ran. */
async function withTraits<T>(
  traits: Partial<DeviceTraits>,
  work: () => Promise<T>,
): Promise<{ result: T; kernels: string[] }> {
  const { runtime } = present();
  const other = new KernelRuntime(runtime.backend, { ...runtime.traits, ...traits });
  const kernels: string[] = [];
  const run = other.runInto.bind(other);
  other.runInto = (kernel, ...rest) => {
    kernels.push(kernel.name);
    run(kernel, ...rest);
  };
  registerRuntime(other);
  try {
    return { result: await work(), kernels };
  } finally {
    registerRuntime(runtime);
  }
}

type Reduce = (x: tf.Tensor, axes?: number[], keepDims?: boolean) => tf.Tensor;
const reductions: Record<string, Reduce> = {
  sum: (x, axes, keep) => tf.sum(x, axes, keep),
  mean: (x, axes, keep) => tf.mean(x, axes, keep),
  max: (x, axes, keep) => tf.max(x, axes, keep),
  min: (x, axes, keep) => tf.min(x, axes, keep),
};

const shapes: [number[], number[] | undefined][] = [
  [[7], undefined],
  [[5000], undefined],
  [[4099], [0]],
  [[3, 700], [1]],
  [[300, 8], [0]],
  [[1031, 3], [0]],
  [[2, 30, 5], [1]],
  [
    [4, 9, 1, 12],
    [0, 1, 2],
  ],
  [
    [3, 5, 2, 4],
    [0, 2],
  ],
  [
    [6, 5, 7],
    [0, 2],
  ],
  [[4, 1, 3], [1]],
  [[1, 1], undefined],
  [[2, 2050], [-1]],
];

async function evaluate(reduce: Reduce, values: Float32Array, shape: number[], axes?: number[]) {
  const x = tf.tensor(values, shape);
  const value = reduce(x, axes, values.length % 2 === 0);
  const weighted = (t: tf.Tensor): tf.Tensor => tf.square(reduce(t, axes));
  const [y, dx] = await read([value, tf.grad(weighted)(x)]);
  x.dispose();
  return { shape: value.shape, y: y as Float32Array, dx: dx as Float32Array };
}

describe.each(Object.entries(forms))('as for %s', (_, traits) => {
  it.each(Object.entries(reductions))('%s is right, and so is its gradient', async (name, reduce) => {
    for (const [shape, axes] of shapes) {
      const random = randomNumbers(shape.length + name.length);
      const values = randomVector(tf.util.sizeFromShape(shape), random);
      await tf.setBackend('cpu');
      const expected = await evaluate(reduce, values, shape, axes);
      await tf.setBackend('webgpu');
      const { result: got, kernels } = await withTraits(traits, () => evaluate(reduce, values, shape, axes));
      const told = `${name} of ${JSON.stringify(shape)} over ${JSON.stringify(axes)}`;
      expect(got.shape, told).toEqual(expected.shape);
      expect(relativeError(got.y, expected.y, 1e-2), told).toBeLessThan(1e-5);
      expect(relativeError(got.dx, expected.dx, 1e-3), told).toBeLessThan(1e-4);
      expect(kernels, told).toContain('reduce');
    }
  });

  it('softmax and its gradient are right, whatever the logits', async () => {
    for (const [rows, columns, spread] of [
      [1, 1, 1],
      [5, 7, 30],
      [33, 100, 5],
      [3, 1030, 80],
      [4, 64, 3e37],
    ] as const) {
      const values = randomVector(rows * columns, randomNumbers(rows), spread);
      if (columns > 1) values[0] = -Infinity;
      const seed = randomVector(rows * columns, randomNumbers(columns));
      const run = async (): Promise<Float32Array[]> => {
        const [x, dy] = [tf.tensor2d(values, [rows, columns]), tf.tensor2d(seed, [rows, columns])];
        const found = await read([tf.softmax(x), tf.grad((t: tf.Tensor) => tf.softmax(t))(x, dy)]);
        tf.dispose([x, dy]);
        return found;
      };
      await tf.setBackend('cpu');
      const expected = await run();
      await tf.setBackend('webgpu');
      const { result: got, kernels } = await withTraits(traits, run);
      const told = `${rows} rows of ${columns}, logits to ${spread}`;
      expect(kernels, told).toContain('softmax');
      expect(relativeError(got[0] as Float32Array, expected[0] as Float32Array), told).toBeLessThan(1e-5);
      expect(relativeError(got[1] as Float32Array, expected[1] as Float32Array, 1e-3), told).toBeLessThan(
        2e-5,
      );
    }
  });

  it('more than 65,535 rows are right to the last', async () => {
    const rows = 70_001;
    const values = Float32Array.from({ length: rows * 40 }, (__, i) => ((i * 7) % 13) - 6);
    const x = tf.tensor2d(values, [rows, 40]);
    const { result } = await withTraits(traits, () => read([tf.sum(x, 1), tf.max(x, 1), tf.softmax(x)]));
    const [sums, largest, shares] = result as [Float32Array, Float32Array, Float32Array];
    for (const row of [0, 65_534, 65_535, 65_536, rows - 1]) {
      const own = values.subarray(row * 40, row * 40 + 40);
      const total = own.reduce((sum, value) => sum + Math.exp(value), 0);
      expect(sums[row], `row ${row}`).toBe(own.reduce((a, b) => a + b));
      expect(largest[row], `row ${row}`).toBe(Math.max(...own));
      expect(shares[row * 40 + 3], `row ${row}`).toBeCloseTo(Math.exp(own[3] as number) / total, 5);
    }
    x.dispose();
  });

  it('give the same bits twice', async () => {
    const x = tf.tensor(randomVector(3 * 5000 * 3, randomNumbers(6)), [3, 5000, 3]);
    const once = (): Promise<Float32Array[]> =>
      read([tf.sum(x), tf.sum(x, 1), tf.mean(x, [0, 2]), tf.softmax(x)]);
    const { result: first } = await withTraits(traits, once);
    const { result: second } = await withTraits(traits, once);
    expect(second).toEqual(first);
    x.dispose();
  });

  it('NaN and infinities come through', async () => {
    const x = tf.tensor2d([1, NaN, 3, -Infinity, -Infinity, -Infinity, 4, Infinity, -5], [3, 3]);
    const wide = tf.concat([tf.fill([1, 40], 2), tf.fill([1, 1], NaN), tf.fill([1, 40], 3)], 1);
    const { result } = await withTraits(traits, () =>
      read([tf.max(x, 1), tf.min(x, 1), tf.max(x, 0), tf.max(wide), tf.min(wide, 1)]),
    );
    expect(result.map((values) => Array.from(values))).toEqual([
      [NaN, -Infinity, Infinity],
      [NaN, -Infinity, -5],
      [4, NaN, 3],
      [NaN],
      [NaN],
    ]);
    tf.dispose([x, wide]);
  });
});

describe('reductions', () => {
  it('of other types, or switched off, go to the stock kernels', async () => {
    const x = tf.tensor2d([1, 2, 3, 4, 5, 6], [2, 3]);
    const whole = await withTraits({}, () => read([tf.sum(tf.cast(x, 'int32'), 1)]));
    expect(whole.kernels).toEqual([]);
    expect(Array.from(whole.result[0] as Float32Array)).toEqual([6, 15]);
    switchOff('reduce', 'test');
    switchOff('softmax', 'test');
    const off = await withTraits({}, () => read([tf.sum(x, 0), tf.max(x), tf.softmax(x)]));
    expect(off.kernels).toEqual([]);
    const long = tf.fill([70_001, 3], 5);
    const shares = await withTraits({}, () => read([tf.softmax(long)]));
    switchAllOn();
    expect(shares.kernels).not.toContain('softmax');
    expect((shares.result[0] as Float32Array).every((share) => Math.abs(share - 1 / 3) < 1e-6)).toBe(true);
    long.dispose();
    expect(Array.from(off.result[0] as Float32Array)).toEqual([5, 7, 9]);
    expect(Array.from(off.result[1] as Float32Array)).toEqual([6]);
    x.dispose();
  });

  it('leave no tensors behind', async () => {
    const x = tf.ones([3, 5000, 3]);
    await x.data();
    const before = tf.memory().numTensors;
    const buffers = tf.backend().numDataIds();
    tf.dispose([tf.sum(x), tf.mean(x, [0, 2]), tf.max(x, 1)]);
    expect(tf.memory().numTensors).toBe(before);
    expect(tf.backend().numDataIds()).toBe(buffers);
    x.dispose();
  });

  it('add to what is there when they accumulate', async () => {
    const { runtime } = present();
    const x = tf.ones([6, 5]);
    const y = tf.fill([5], 10);
    const kernel = sumOnce({ outer: 1, length: 6, inner: 5 }, runtime.traits).accumulating?.();
    if (!kernel) throw new Error('no accumulating kernel');
    runtime.runInto(kernel, [x], [y]);
    const [values] = await read([y]);
    expect(Array.from(values as Float32Array)).toEqual(Array(5).fill(16));
    x.dispose();
  });

  it('take two passes where there are few results of many elements', () => {
    const traits = { ...present().runtime.traits, software: false };
    const shape = { outer: 1, length: 1_000_000, inner: 1 };
    expect(reduceChunks(shape, traits)).toBeGreaterThan(1);
    expect(reduceKernels('sum', shape, traits)).toHaveLength(2);
    expect(reduceKernels('sum', { outer: 5000, length: 64, inner: 1 }, traits)).toHaveLength(1);
  });

  it('take neighbouring axes together', () => {
    expect(reducedGroups([2, 3, 4], [1, 2])).toEqual([{ outer: 2, length: 12, inner: 1 }]);
    expect(reducedGroups([2, 3, 4], [0])).toEqual([{ outer: 1, length: 2, inner: 12 }]);
    expect(reducedGroups([2, 1, 4], [1])).toEqual([{ outer: 8, length: 1, inner: 1 }]);
    expect(reducedGroups([2, 3, 4], [0, 2])).toEqual([
      { outer: 6, length: 4, inner: 1 },
      { outer: 1, length: 2, inner: 3 },
    ]);
  });
});
