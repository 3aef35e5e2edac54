/** The mended operations on real WebGPU; any GPU error that nobody caught fails the test. */
import * as tf from '@tensorflow/tfjs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createWebGpuDevice, type WebGpuDevice } from '../device/webgpu-device.ts';
import { switchAllOn, switchOff } from '../kernel/switches.ts';
import { presentGpu } from '../testing/device.ts';
import { softmaxRows } from './reductions.ts';

let device: WebGpuDevice;
beforeAll(async () => {
  device = await createWebGpuDevice(await presentGpu());
}, 120_000);
afterEach(async () => {
  await device.idle();
  expect(await device.takeFailures()).toEqual([]);
});
afterAll(() => device.dispose());

async function values(tensor: tf.Tensor): Promise<number[]> {
  const data = await tensor.data();
  tensor.dispose();
  return Array.from(data as ArrayLike<number>);
}

/** Bytes that go from CPU to GPU while `work` runs. */
async function uploadedBytes(work: () => tf.Tensor | tf.Tensor[]): Promise<number> {
  const gpu = device.device;
  let bytes = 0;
  const [createBuffer, writeBuffer] = [gpu.createBuffer.bind(gpu), gpu.queue.writeBuffer.bind(gpu.queue)];
  gpu.createBuffer = (descriptor) => {
    if (descriptor.mappedAtCreation === true) bytes += descriptor.size;
    return createBuffer(descriptor);
  };
  gpu.queue.writeBuffer = ((...parameters: Parameters<GPUQueue['writeBuffer']>) => {
    bytes += (parameters[2] as ArrayBufferView).byteLength;
    writeBuffer(...parameters);
  }) as GPUQueue['writeBuffer'];
  try {
    const results = [work()].flat();
    await Promise.all(results.map((tensor) => tensor.data()));
    tf.dispose(results);
  } finally {
    Object.assign(gpu, { createBuffer });
    Object.assign(gpu.queue, { writeBuffer });
  }
  return bytes;
}

describe('gradients of sum and mean', () => {
  it.each([
    ['sum', (x: tf.Tensor) => tf.sum(tf.square(x)), 2],
    ['mean', (x: tf.Tensor) => tf.mean(tf.square(x)), 2 / (256 * 512)],
    ['sum of rows', (x: tf.Tensor) => tf.sum(tf.square(tf.sum(x, 1))), 2 * 512 * 512],
  ])('%s upload nothing of the size of their input, and are right', async (_, f, factor) => {
    const x = tf.add(tf.fill([256, 512], 0.5), 0) as tf.Tensor2D;
    await x.data();
    const gradient = tf.grad((input: tf.Tensor) => f(input) as tf.Scalar);
    const bytes = await uploadedBytes(() => gradient(x));
    expect(bytes).toBeLessThan(4096);
    const got = await values(gradient(x));
    const expected = factor === 2 * 512 * 512 ? 2 * 512 * 0.5 : factor * 0.5;
    expect(got[0]).toBeCloseTo(expected, 5);
    expect(got.at(-1)).toBeCloseTo(expected, 5);
    x.dispose();
  });
});

describe('synchronous reads', () => {
  it('throw in words where the values are on the GPU, and leave the device working', async () => {
    const x = tf.add(tf.tensor1d([1, 2]), 1);
    expect(() => x.dataSync()).toThrow('use await tensor.data()');
    expect(await values(x)).toEqual([2, 3]);
  });
});

describe('addN', () => {
  it.each([2, 7, 8, 9, 30, 100])('adds %i tensors, and leaves none behind', async (count) => {
    const before = tf.memory().numTensors;
    const terms = Array.from({ length: count }, (_, i) => tf.fill([5], i + 1));
    expect(await values(tf.addN(terms))).toEqual(Array(5).fill((count * (count + 1)) / 2));
    tf.dispose(terms);
    expect(tf.memory().numTensors).toBe(before);
  });
});

describe('softmax', () => {
  it('is right to the last row beyond 65,535 rows', async () => {
    const rows = softmaxRows + 4467;
    const x = tf.tensor2d(
      Float32Array.from({ length: rows * 3 }, (_, i) => Math.sin(i) * 3),
      [rows, 3],
    );
    const got = await values(tf.softmax(x));
    for (const row of [0, 1, softmaxRows - 1, softmaxRows, softmaxRows + 1, rows - 2, rows - 1]) {
      const exponentials = [0, 1, 2].map((i) => Math.exp(Math.sin(row * 3 + i) * 3));
      const sum = exponentials.reduce((a, b) => a + b);
      exponentials.forEach((e, i) => expect(got[row * 3 + i], `row ${row}`).toBeCloseTo(e / sum, 5));
    }
    x.dispose();
  });
});

describe('matrix products', () => {
  it.each([
    [
      [3, 2, 4],
      [1, 1, 4, 5],
      [1, 3, 2, 5],
    ],
    [
      [1, 2, 4],
      [3, 4, 5],
      [3, 2, 5],
    ],
    [
      [2, 1, 2, 4],
      [2, 3, 4, 5],
      [2, 3, 2, 5],
    ],
    [
      [2, 4],
      [2, 2, 4, 3],
      [2, 2, 2, 3],
    ],
  ])('of %j and %j have the shape and values of the plain back end', async (shapeA, shapeB, shape) => {
    const size = (of: number[]): number => of.reduce((a, b) => a * b, 1);
    const a = Float32Array.from({ length: size(shapeA) }, (_, i) => ((i * 7) % 11) - 5);
    const b = Float32Array.from({ length: size(shapeB) }, (_, i) => ((i * 5) % 13) - 6);
    const product = (): tf.Tensor => tf.tidy(() => tf.matMul(tf.tensor(a, shapeA), tf.tensor(b, shapeB)));
    const ours = product();
    expect(ours.shape).toEqual(shape);
    const got = await values(ours);
    await tf.setBackend('cpu');
    const expected = await values(product());
    await tf.setBackend('webgpu');
    expect(got).toEqual(expected);
  });

  it.each(['our kernel', 'the stock program'])(
    'with a long inner axis are right by %s, and use no atomics',
    async (by) => {
      if (by !== 'our kernel') switchOff('matmul', 'a test');
      const backend = tf.backend() as WebGPUBackend;
      const run = backend.runWebGPUProgram.bind(backend);
      const atomic: boolean[] = [];
      backend.runWebGPUProgram = (program, ...rest) => {
        atomic.push(program.atomic === true);
        return run(program, ...rest);
      };
      const inner = 2100;
      const x = tf.tensor2d(
        Float32Array.from({ length: inner * 16 }, (_, i) => ((i * 7) % 11) - 5),
        [inner, 16],
      );
      const got = await values(tf.matMul(x, x, true, false));
      backend.runWebGPUProgram = run;
      const expected = new Array<number>(256).fill(0);
      for (let k = 0; k < inner; k++)
        for (let r = 0; r < 16; r++)
          for (let c = 0; c < 16; c++) {
            const [left, right] = [((k * 16 + r) * 7) % 11, ((k * 16 + c) * 7) % 11];
            expected[r * 16 + c] = (expected[r * 16 + c] as number) + (left - 5) * (right - 5);
          }
      // Sums of small integers: exact in float32.
      expect(got).toEqual(expected);
      expect(atomic.length).toBe(by === 'our kernel' ? 0 : 1);
      expect(atomic).not.toContain(true);
      switchAllOn();
      x.dispose();
    },
  );
});

describe('int32', () => {
  it('casts to floats that every kernel may read', async () => {
    const ints = tf.tensor2d([1, 0, 3, -4], [2, 2], 'int32');
    const bools = tf.greater(ints, 0);
    const eye = tf.tensor2d([1, 0, 0, 1], [2, 2]);
    expect(await values(tf.matMul(tf.cast(ints, 'float32'), eye))).toEqual([1, 0, 3, -4]);
    expect(await values(tf.matMul(tf.cast(bools, 'float32'), eye))).toEqual([1, 0, 1, 0]);
    expect(await values(tf.add(tf.cast(ints, 'float32'), eye))).toEqual([2, 0, 3, -3]);
    tf.dispose([ints, bools, eye]);
  });

  const big = Int32Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 1 : -1) * (i * 30_000_001 + 17));

  it('transposes exactly, whatever the size of the numbers', async () => {
    const got = await values(tf.transpose(tf.tensor3d(big, [4, 3, 5], 'int32'), [2, 0, 1]));
    const expected: number[] = [];
    for (let c = 0; c < 5; c++)
      for (let a = 0; a < 4; a++)
        for (let b = 0; b < 3; b++) expected.push(big[a * 15 + b * 5 + c] as number);
    expect(got).toEqual(expected);
  });

  it('segment sums are exact', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => (i * 7) % 4);
    const x = tf.tensor2d(
      big.map((v) => v >> 3),
      [20, 3],
      'int32',
    );
    const got = await values(tf.unsortedSegmentSum(x, tf.tensor1d(ids, 'int32'), 4));
    const expected = Array<number>(12).fill(0);
    ids.forEach((segment, row) => {
      for (let i = 0; i < 3; i++) {
        expected[segment * 3 + i] =
          (expected[segment * 3 + i] as number) + ((big[row * 3 + i] as number) >> 3);
      }
    });
    expect(got).toEqual(expected);
  });
});

describe('errors', () => {
  it('a shader that does not compile is heard of, and told from other faults', async () => {
    class Broken {
      outputShape = [4];
      shaderKey = 'broken-on-purpose';
      dispatchLayout = { x: [0] };
      dispatch: [number, number, number] = [1, 1, 1];
      workgroupSize: [number, number, number] = [64, 1, 1];
      variableNames = ['x'];
      getUserCode(): string {
        return 'fn main(index : i32) { result[index] = no_such_function(x[index]); }';
      }
    }
    const backend = tf.backend() as WebGPUBackend;
    const x = tf.tensor1d([1, 2, 3, 4]);
    backend.runWebGPUProgram(
      new Broken() as Parameters<WebGPUBackend['runWebGPUProgram']>[0],
      [x],
      'float32',
    );
    await device.idle();
    const failures = await device.takeFailures();
    expect(failures[0]).toMatchObject({ kind: 'shader' });
    expect(failures[0]?.message).toContain('no_such_function');
  });

  it('a device that is lost is heard of', async () => {
    const other = await (await presentGpu()).requestAdapter();
    expect(other).not.toBeNull();
    const lone = await createWebGpuDevice(await presentGpu());
    lone.device.destroy();
    expect(await lone.lost).toMatchObject({ kind: 'lost' });
    device = await createWebGpuDevice(await presentGpu());
  });
});
