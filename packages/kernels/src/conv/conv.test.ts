/**
 * Convolutions, pooling and rows of TensorFlow.js on our kernels: values and gradients against its plain JavaScript
 * back end, in the form for software adapters and in the form for GPUs.
 */
import * as tf from '@tensorflow/tfjs';
import { describe, expect, it } from 'vitest';
import type { DeviceTraits } from '../kernel/kernel.ts';
import { KernelRuntime, registerRuntime } from '../kernel/runtime.ts';
import { switchAllOn, switchOff } from '../kernel/switches.ts';
import { isRowOf } from '../overrides/convolutions.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from '../testing/device.ts';

const present = useDevice();
type Random = () => number;
type Operation = (...inputs: tf.Tensor[]) => tf.Tensor;

const between = (random: Random, low: number, high: number): number =>
  low + Math.floor(random() * (high - low + 1));
const pick = <T>(random: Random, ...options: T[]): T => options[between(random, 0, options.length - 1)] as T;

interface Case {
  shapes: number[][];
  run: Operation;
  /** Kernels that must have run. */
  kernels: string[];
  /** Without gradients. */
  forwardOnly?: boolean;
}

const channels = (random: Random): number => pick(random, 1, 2, 3, 4, 5, 7, 8, 12);

function padding(random: Random, filter: number): 'same' | 'valid' | number {
  return pick<'same' | 'valid' | number>(random, 'same', 'valid', between(random, 0, filter - 1));
}

function image(random: Random): [number, number, number] {
  return [between(random, 1, 3), between(random, 4, 11), between(random, 4, 11)];
}

const operations: Record<string, (random: Random) => Case> = {
  'a convolution': (random) => {
    const [batch, height, width] = image(random);
    const [inside, outside] = [channels(random), channels(random)];
    const [filterHeight, filterWidth] = [between(random, 1, 4), between(random, 1, 4)];
    const strides: [number, number] = [between(random, 1, 3), between(random, 1, 3)];
    const pad = padding(random, Math.min(filterHeight, filterWidth));
    return {
      shapes: [
        [batch, height, width, inside],
        [filterHeight, filterWidth, inside, outside],
      ],
      run: (x, w) => tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, strides, pad),
      kernels: ['convolution-filter-gradient'],
    };
  },
  'a convolution with explicit padding': (random) => {
    const [batch, height, width] = image(random);
    const [inside, outside] = [channels(random), channels(random)];
    const amount = (): [number, number] => [between(random, 0, 2), between(random, 0, 2)];
    const pad: [[number, number], [number, number], [number, number], [number, number]] = [
      [0, 0],
      amount(),
      amount(),
      [0, 0],
    ];
    return {
      shapes: [
        [batch, height, width, inside],
        [3, 3, inside, outside],
      ],
      run: (x, w) => tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, pad),
      kernels: ['convolution', 'convolution-input-gradient', 'convolution-filter-gradient'],
    };
  },
  'a dilated convolution': (random) => {
    const [batch, height, width] = image(random);
    const [inside, outside] = [channels(random), channels(random)];
    const dilations: [number, number] = [between(random, 1, 3), between(random, 2, 3)];
    return {
      shapes: [
        [batch, height, width, inside],
        [2, 3, inside, outside],
      ],
      run: (x, w) => tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, 'same', 'NHWC', dilations),
      kernels: ['convolution'],
      forwardOnly: true,
    };
  },
  'a fused convolution': (random) => {
    const [batch, height, width] = image(random);
    const [inside, outside] = [channels(random), channels(random)];
    const activation = pick(random, 'relu' as const, 'linear' as const);
    const filter = between(random, 1, 3);
    return {
      shapes: [[batch, height, width, inside], [filter, filter, inside, outside], [outside]],
      run: (x, w, bias) =>
        tf.fused.conv2d({
          x: x as tf.Tensor4D,
          filter: w as tf.Tensor4D,
          bias: bias as tf.Tensor1D,
          strides: 1,
          pad: 'same',
          activation,
        }),
      kernels: [filter === 1 ? 'matmul' : 'convolution'],
      forwardOnly: true,
    };
  },
  'a convolution of one tap': (random) => {
    const [inside, outside] = [channels(random), channels(random)];
    return {
      shapes: [
        [...image(random), inside],
        [1, 1, inside, outside],
      ],
      run: (x, w) => tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, 'valid'),
      kernels: ['matmul', 'convolution-filter-gradient'],
    };
  },
  'a convolution over all of its input': (random) => {
    const [inside, outside] = [channels(random), channels(random)];
    return {
      shapes: [
        [between(random, 1, 5), 3, 4, inside],
        [3, 4, inside, outside],
      ],
      run: (x, w) => tf.conv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, 'valid'),
      kernels: ['matmul', 'convolution-filter-gradient'],
    };
  },
  'a transposed convolution': (random) => {
    const [batch, height, width] = image(random);
    const [inside, outside] = [channels(random), channels(random)];
    const stride = between(random, 1, 3);
    const outputShape: [number, number, number, number] = [batch, height * stride, width * stride, outside];
    return {
      shapes: [
        [batch, height, width, inside],
        [3, 3, outside, inside],
      ],
      run: (x, w) =>
        tf.conv2dTranspose(x as tf.Tensor4D, w as tf.Tensor4D, outputShape, [stride, stride], 'same'),
      kernels: ['convolution-input-gradient', 'convolution', 'convolution-filter-gradient'],
    };
  },
  'a depthwise convolution': (random) => {
    const [batch, height, width] = image(random);
    const inside = channels(random);
    const stride = between(random, 1, 3);
    const [filterHeight, filterWidth] = [between(random, 1, 4), between(random, 1, 4)];
    const pad = padding(random, Math.min(filterHeight, filterWidth));
    return {
      shapes: [
        [batch, height, width, inside],
        [filterHeight, filterWidth, inside, pick(random, 1, 1, 2, 3)],
      ],
      run: (x, w) => tf.depthwiseConv2d(x as tf.Tensor4D, w as tf.Tensor4D, stride, pad),
      kernels: ['depthwise', 'depthwise-input-gradient', 'depthwise-filter-gradient'],
    };
  },
  'a dilated depthwise convolution': (random) => {
    const inside = channels(random);
    return {
      shapes: [
        [...image(random), inside],
        [3, 2, inside, pick(random, 1, 2)],
      ],
      run: (x, w) => tf.depthwiseConv2d(x as tf.Tensor4D, w as tf.Tensor4D, 1, 'same', 'NHWC', [2, 3]),
      kernels: ['depthwise'],
      forwardOnly: true,
    };
  },
  'the largest of a window': (random) => {
    const [filter, stride] = [between(random, 1, 3), between(random, 1, 3)];
    const pad = pick<'same' | 'valid'>(random, 'same', 'valid');
    return {
      shapes: [[...image(random), channels(random)]],
      run: (x) => tf.maxPool(x as tf.Tensor4D, [filter, 3], stride, pad),
      kernels: ['pool', 'pool-gradient'],
    };
  },
  'the largest of windows that share nothing': (random) => {
    const [filterHeight, filterWidth] = [between(random, 1, 3), between(random, 2, 4)];
    return {
      shapes: [[2, 3 * filterHeight, 2 * filterWidth, channels(random)]],
      run: (x) =>
        tf.maxPool(x as tf.Tensor4D, [filterHeight, filterWidth], [filterHeight, filterWidth], 'valid'),
      kernels: ['pool', 'pool-gradient'],
    };
  },
  'the mean of a window': (random) => {
    const [filter, stride] = [between(random, 2, 3), between(random, 1, 3)];
    const pad = pick<'same' | 'valid' | 1>(random, 'same', 'valid', 1);
    return {
      shapes: [[...image(random), channels(random)]],
      run: (x) => tf.avgPool(x as tf.Tensor4D, filter, stride, pad),
      kernels: ['pool', 'pool-gradient'],
    };
  },
  'arithmetic with rows': (random) => {
    const width = channels(random) + 1;
    const rows = between(random, 2, 9);
    return {
      shapes: [[rows, 3, width], [width], [1, 3, width]],
      run: (x, a, b) => tf.sub(tf.div(tf.add(a, tf.mul(x, b)), tf.add(3, tf.square(a))), b),
      kernels: ['row-operation'],
    };
  },
};

interface Outcome {
  value: Float32Array;
  gradients: Float32Array[];
}

async function evaluate(
  test: Case,
  inputs: Float32Array[],
  seedValues: Float32Array | null,
): Promise<Outcome> {
  const tensors = inputs.map((values, i) => tf.tensor(values, test.shapes[i]));
  const value = test.run(...tensors);
  const seed = seedValues && tf.tensor(seedValues.subarray(0, value.size), value.shape);
  const gradients = seed && !test.forwardOnly ? tf.grads(test.run)(tensors, seed) : [];
  const [first, ...rest] = await read([value, ...gradients]);
  tf.dispose(tensors);
  seed?.dispose();
  return { value: first as Float32Array, gradients: rest };
}

/** Runs `work` with a runtime of other traits, and tells which kernels ran. */
async function withTraits<T>(
  traits: Partial<DeviceTraits>,
  work: () => Promise<T>,
): Promise<{ result: T; kernels: Set<string> }> {
  const { runtime } = present();
  const other = new KernelRuntime(runtime.backend, { ...runtime.traits, ...traits });
  const kernels = new Set<string>();
  const run = other.runInto.bind(other);
  other.runInto = (kernel, ...rest) => {
    kernels.add(kernel.name);
    run(kernel, ...rest);
  };
  registerRuntime(other);
  try {
    return { result: await work(), kernels };
  } finally {
    registerRuntime(runtime);
  }
}

const forms: Record<string, Partial<DeviceTraits>> = {
  'a software adapter': { software: true },
  'a GPU': { software: false },
};

describe.each(Object.entries(forms))('as for %s', (form, traits) => {
  it.each(Object.entries(operations))('%s is right, and so are its gradients', async (name, make) => {
    for (let trial = 0; trial < 4; trial++) {
      const random = randomNumbers(77 * trial + name.length + (traits.software ? 0 : 1000));
      const test = make(random);
      const inputs = test.shapes.map((shape) => randomVector(tf.util.sizeFromShape(shape), random));
      const seed = randomVector(20_000, random);
      await tf.setBackend('cpu');
      const expected = await evaluate(test, inputs, seed);
      await tf.setBackend('webgpu');
      const { result: got, kernels } = await withTraits(traits, () => evaluate(test, inputs, seed));
      const told = `${name} on ${form}, trial ${trial}, ${JSON.stringify(test.shapes)}`;
      expect(relativeError(got.value, expected.value), told).toBeLessThan(1e-5);
      expected.gradients.forEach((gradient, i) => {
        expect(relativeError(got.gradients[i] as Float32Array, gradient, 1e-3), `${told}, ${i}`).toBeLessThan(
          2e-5,
        );
      });
      expect([...kernels], told).toEqual(expect.arrayContaining(test.kernels));
    }
  });
});

describe('convolutions', () => {
  it('give the same bits twice, and gradients of filters in many chunks', async () => {
    const random = randomNumbers(8);
    const x = tf.tensor4d(randomVector(9 * 20 * 21 * 3, random), [9, 20, 21, 3]);
    const w = tf.tensor4d(randomVector(3 * 3 * 3 * 5, random), [3, 3, 3, 5]);
    const once = (): Promise<Float32Array[]> =>
      read(
        tf.grads((a: tf.Tensor, b: tf.Tensor) =>
          tf.sum(tf.square(tf.conv2d(a as tf.Tensor4D, b as tf.Tensor4D, 1, 'same'))),
        )([x, w]),
      );
    for (const software of [true, false]) {
      const { result: first } = await withTraits({ software }, once);
      const { result: second } = await withTraits({ software }, once);
      expect(second).toEqual(first);
    }
    tf.dispose([x, w]);
  });

  it('cover more workgroups than one axis of a grid holds', async () => {
    const [height, width] = [2100, 2048];
    const x = tf.reshape(tf.range(0, height * width, 1), [1, height, width, 1]) as tf.Tensor4D;
    const y = tf.conv2d(x, tf.tensor4d([1, 1], [2, 1, 1, 1]), 1, 'valid');
    const last = tf.slice(y, [0, height - 3, 0, 0], [1, 2, width, 1]);
    const [values] = await read([last]);
    tf.dispose([x, y]);
    const expected = Float32Array.from({ length: 2 * width }, (_, i) => {
      const at = (height - 3) * width + i;
      return Math.fround(at + (at + width));
    });
    expect(values).toEqual(expected);
  });

  it('of other layouts and types, or switched off, go to the stock kernels', async () => {
    const random = randomNumbers(4);
    const x = tf.tensor4d(randomVector(2 * 6 * 6 * 4, random), [2, 6, 6, 4]);
    const w = tf.tensor4d(randomVector(3 * 3 * 4 * 4, random), [3, 3, 4, 4]);
    const plain = (): Promise<Float32Array[]> => read([tf.conv2d(x, w, 1, 'same')]);
    const { result: ours } = await withTraits({}, plain);
    switchOff('convolution', 'test');
    const { result: stock, kernels } = await withTraits({}, plain);
    switchAllOn();
    expect(kernels).not.toContain('convolution');
    expect(relativeError(ours[0] as Float32Array, stock[0] as Float32Array)).toBeLessThan(1e-5);
    const turned = await withTraits({}, () =>
      read([tf.transpose(tf.conv2d(tf.transpose(x, [0, 3, 1, 2]), w, 1, 'same', 'NCHW'), [0, 2, 3, 1])]),
    );
    expect(turned.kernels).not.toContain('convolution');
    expect(relativeError(turned.result[0] as Float32Array, stock[0] as Float32Array)).toBeLessThan(1e-5);
    tf.dispose([x, w]);
  });
});

describe('the gradient of the largest', () => {
  it('goes to the first of equals, and infinities count', async () => {
    const x = tf.tensor4d([-Infinity, -Infinity, -Infinity, -Infinity, 2, 2, 1, 2], [1, 2, 4, 1]);
    const pool = (t: tf.Tensor): tf.Tensor => tf.maxPool(t as tf.Tensor4D, 2, 2, 'valid');
    const [y, dx] = await read([pool(x), tf.grad(pool)(x)]);
    expect(Array.from(y as Float32Array)).toEqual([2, 2]);
    expect(Array.from(dx as Float32Array)).toEqual([0, 0, 0, 0, 1, 0, 0, 1]);
    const low = tf.fill([1, 2, 2, 1], -Infinity);
    const [least] = await read([pool(low)]);
    expect(Array.from(least as Float32Array)).toEqual([-Infinity]);
    tf.dispose([x, low]);
  });
});

describe('rows', () => {
  it('are told from other shapes that broadcast', () => {
    expect(isRowOf([3], [2, 3])).toBe(true);
    expect(isRowOf([1, 3], [2, 3])).toBe(true);
    expect(isRowOf([4, 1], [2, 4, 1])).toBe(true);
    expect(isRowOf([2, 3], [2, 3])).toBe(false);
    expect(isRowOf([2, 1], [2, 3])).toBe(false);
    expect(isRowOf([], [2, 3])).toBe(false);
    expect(isRowOf([1], [2, 3])).toBe(false);
    expect(isRowOf([1, 2, 3], [2, 3])).toBe(false);
    expect(isRowOf([3], [0, 3])).toBe(false);
  });
});
