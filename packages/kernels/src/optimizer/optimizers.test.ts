/** Optimizer steps against the same in float64, on real WebGPU and by the twins on another back end. */
import * as tf from '@tensorflow/tfjs';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { switchOff } from '../kernel/switches.ts';
import { useDevice } from '../testing/device.ts';
import { adamW, adamWKernel, adamWScalars, type AdamWOptions } from './adam-w.ts';
import { sgd, sgdKernel, sgdScalars } from './sgd.ts';

const present = useDevice();
let device: WebGpuDevice;
beforeAll(() => {
  ({ device } = present());
});

const places = [
  ['WebGPU', 'webgpu', false],
  ['WebGPU without the kernels', 'webgpu', true],
  ['the CPU', 'cpu', false],
] as const;

async function goTo(backend: string, off: boolean): Promise<void> {
  await tf.setBackend(backend);
  if (off) for (const name of ['adam-w', 'sgd']) switchOff(name, 'for a test');
}

function vector(size: number, seed: number, scale = 1): Float32Array {
  return Float32Array.from({ length: size }, (_, i) => Math.sin(i * 1.7 + seed * 2.3) * scale);
}

/** Sums that cancel are off by what their terms, of the size `terms`, are off. */
async function expectClose(tensor: tf.Tensor, expected: Float64Array, terms = 0.1): Promise<void> {
  const got = await tensor.data();
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const wanted = expected[i] as number;
    const difference = Math.abs((got[i] as number) - wanted) / (Math.abs(wanted) + terms);
    // Also where it is NaN.
    if (!(difference <= worst)) worst = difference;
  }
  expect(got.length).toBe(expected.length);
  expect(worst).toBeLessThan(2e-6);
}

/** AdamW in float64. */
class AdamWReference {
  readonly p: Float64Array;
  readonly m: Float64Array;
  readonly v: Float64Array;

  constructor(parameter: Float32Array) {
    this.p = Float64Array.from(parameter);
    this.m = new Float64Array(parameter.length);
    this.v = new Float64Array(parameter.length);
  }

  step(gradient: Float32Array, t: number, options: Required<AdamWOptions>): void {
    const { learningRate, beta1, beta2, epsilon, weightDecay } = options;
    gradient.forEach((g, i) => {
      const m = (this.m[i] = beta1 * (this.m[i] as number) + (1 - beta1) * g);
      const v = (this.v[i] = beta2 * (this.v[i] as number) + (1 - beta2) * g * g);
      const p = this.p[i] as number;
      const update = m / (1 - beta1 ** t) / (Math.sqrt(v / (1 - beta2 ** t)) + epsilon);
      this.p[i] = p - learningRate * (update + weightDecay * p);
    });
  }
}

function adamWState(parameter: Float32Array, shape: number[]) {
  return {
    parameter: tf.variable(tf.tensor(parameter, shape)),
    firstMoment: tf.variable(tf.zeros(shape)),
    secondMoment: tf.variable(tf.zeros(shape)),
  };
}

const options = { learningRate: 0.01, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weightDecay: 0.1 };
const shapes = [[1], [3], [64, 4], [1025], [77, 90]];

describe.each(places)('adamW on %s', (_, backend, off) => {
  it.each(shapes.map((shape) => [shape]))('is as in float64 over some steps: %j', async (shape) => {
    await goTo(backend, off);
    const size = tf.util.sizeFromShape(shape);
    const reference = new AdamWReference(vector(size, 1));
    const state = adamWState(vector(size, 1), shape);
    const factor = tf.tensor1d([0.25]);
    const before = tf.memory().numTensors;
    for (let step = 1; step <= 8; step++) {
      const gradient = tf.tensor(vector(size, step + 5, 4), shape);
      const scalars = tf.tensor1d(adamWScalars(options, step));
      adamW(state, gradient, scalars, factor);
      tf.dispose([gradient, scalars]);
      reference.step(vector(size, step + 5), step, options);
    }
    expect(tf.memory().numTensors).toBe(before);
    await expectClose(state.firstMoment, reference.m);
    await expectClose(state.secondMoment, reference.v, 1e-9);
    await expectClose(state.parameter, reference.p);
    tf.dispose([...Object.values(state), factor]);
  });

  it('decays parameters beside the moments, which no decay enters', async () => {
    await goTo(backend, off);
    const state = adamWState(Float32Array.of(2, -4), [2]);
    const scalars = tf.tensor1d(adamWScalars({ learningRate: 0.5, weightDecay: 0.5 }, 1));
    adamW(state, tf.zeros([2]), scalars, tf.ones([1]));
    expect([...(await state.parameter.data())]).toEqual([1.5, -3]);
    expect([...(await state.firstMoment.data())]).toEqual([0, 0]);
    expect([...(await state.secondMoment.data())]).toEqual([0, 0]);
    tf.dispose(Object.values(state));
  });

  it.each([NaN, Infinity, -Infinity])('changes nothing where the factor is %d', async (factor) => {
    await goTo(backend, off);
    const state = adamWState(Float32Array.of(2, -4, 1), [3]);
    const scalars = tf.tensor1d(adamWScalars(options, 1));
    adamW(state, tf.tensor1d([1, NaN, 3]), scalars, tf.tensor1d([factor]));
    expect([...(await state.parameter.data())]).toEqual([2, -4, 1]);
    expect([...(await state.firstMoment.data())]).toEqual([0, 0, 0]);
    expect([...(await state.secondMoment.data())]).toEqual([0, 0, 0]);
    tf.dispose(Object.values(state));
  });
});

describe('in place', () => {
  it('adamW writes the buffers that are there, also where their values were read before', async () => {
    const state = adamWState(vector(100, 3), [100]);
    await Promise.all(Object.values(state).map((variable) => variable.data()));
    const buffers = Object.values(state).map(({ dataId }) => device.kernels.buffer(dataId));
    adamW(state, tf.ones([100]), tf.tensor1d(adamWScalars(options, 1)), tf.ones([1]));
    const after = Object.values(state).map(({ dataId }) => device.kernels.buffer(dataId));
    expect(after.every((buffer, i) => buffer === buffers[i])).toBe(true);
    expect((await state.firstMoment.data())[0]).toBeCloseTo(0.1, 6);
    expect((await state.parameter.data())[0]).not.toBe(vector(100, 3)[0]);
    tf.dispose(Object.values(state));
  });

  it('adamW compiles once for all steps of one size', async () => {
    const state = adamWState(vector(52, 3), [52]);
    const factor = tf.ones([1]);
    const first = tf.tensor1d(adamWScalars(options, 1));
    adamW(state, tf.ones([52]), first, factor);
    const gpu = device.device;
    const createShaderModule = gpu.createShaderModule.bind(gpu);
    let compiled = 0;
    gpu.createShaderModule = (descriptor) => {
      compiled++;
      return createShaderModule(descriptor);
    };
    const second = tf.tensor1d(adamWScalars({ learningRate: 0.5, weightDecay: 0.2 }, 2));
    adamW(state, tf.ones([52]), second, factor);
    await device.idle();
    Object.assign(gpu, { createShaderModule });
    expect(compiled).toBe(0);
    tf.dispose(Object.values(state));
  });
});

const momenta = [
  ['none', 0, false],
  ['heavy-ball', 0.9, false],
  ['nesterov', 0.9, true],
] as const;

/** In float64. */
function sgdSteps(size: number, momentum: number, nesterov: boolean, steps: number): Float64Array[] {
  const [p, b] = [Float64Array.from(vector(size, 2)), new Float64Array(size)];
  for (let step = 0; step < steps; step++) {
    vector(size, step + 9).forEach((gradient, i) => {
      const g = gradient + 0.05 * (p[i] as number);
      const velocity = (b[i] = momentum * (b[i] as number) + g);
      p[i] = (p[i] as number) - 0.02 * (nesterov ? g + momentum * velocity : velocity);
    });
  }
  return [p, b];
}

describe.each(places)('sgd on %s', (_, backend, off) => {
  it.each(momenta)('is as in float64 over some steps: %s', async (_name, momentum, nesterov) => {
    await goTo(backend, off);
    for (const size of [5, 1000]) {
      const parameter = tf.variable(tf.tensor1d(vector(size, 2)));
      const velocity = momentum === 0 ? null : tf.variable(tf.zeros([size]));
      const scalars = tf.tensor1d(sgdScalars({ learningRate: 0.02, momentum, weightDecay: 0.05 }));
      const factor = tf.tensor1d([0.5]);
      const before = tf.memory().numTensors;
      for (let step = 0; step < 5; step++) {
        const gradient = tf.tensor1d(vector(size, step + 9, 2));
        sgd({ parameter, velocity }, gradient, scalars, { factor, nesterov });
        gradient.dispose();
      }
      expect(tf.memory().numTensors).toBe(before);
      const [p, b] = sgdSteps(size, momentum, nesterov, 5) as [Float64Array, Float64Array];
      await expectClose(parameter, p);
      if (velocity) await expectClose(velocity, b);
      tf.dispose([parameter, scalars, factor, ...(velocity ? [velocity] : [])]);
    }
  });

  it('changes nothing where the factor is NaN', async () => {
    await goTo(backend, off);
    const parameter = tf.variable(tf.tensor1d([1, 2]));
    const velocity = tf.variable(tf.tensor1d([3, 4]));
    const scalars = tf.tensor1d(sgdScalars({ learningRate: 1, momentum: 0.9 }));
    sgd({ parameter, velocity }, tf.tensor1d([1, 1]), scalars, { factor: tf.tensor1d([NaN]) });
    expect([...(await parameter.data()), ...(await velocity.data())]).toEqual([1, 2, 3, 4]);
    tf.dispose([parameter, velocity]);
  });
});

describe('the code for GPUs', () => {
  /** The same tensors through both codes; equal bits, as both do the same operations. */
  it.each([
    ['adamW', (software: boolean) => adamWKernel(1030, { ...device.kernels.traits, software }), 3, 8],
    ['adamW, wide', (software: boolean) => adamWKernel(1032, { ...device.kernels.traits, software }), 3, 8],
    ['sgd', (software: boolean) => sgdKernel(1030, { ...device.kernels.traits, software }, 'nesterov'), 2, 3],
  ] as [string, (software: boolean) => Kernel, number, number][])(
    '%s gives what that for software adapters gives',
    async (name, make, writes, scalars) => {
      const size = name.includes('wide') ? 1032 : 1030;
      const results: number[][] = [];
      for (const software of [true, false]) {
        const gradient = tf.tensor1d(vector(size, 1));
        const inputs = [gradient, tf.fill([scalars], 0.25), tf.ones([1])];
        const outputs = Array.from({ length: writes }, (_, i) =>
          tf.tensor1d(vector(size, i + 2).map(Math.abs)),
        );
        device.kernels.runInto(make(software), inputs, outputs);
        results.push((await Promise.all(outputs.map((x) => x.data()))).flatMap((x) => [...x]));
        tf.dispose([...inputs, ...outputs]);
      }
      expect(results[1]).toEqual(results[0]);
      expect(results[0]?.every(Number.isFinite)).toBe(true);
    },
  );
});

it('refuses tensors that do not belong together, and a step zero', () => {
  const state = adamWState(vector(6, 1), [2, 3]);
  expect(() => adamW(state, tf.zeros([5]), tf.zeros([8]), tf.ones([1]))).toThrow(
    '[2, 3] and [5] differ in size',
  );
  expect(() => adamWScalars(options, 0)).toThrow(RangeError);
  tf.dispose(Object.values(state));
});
