import * as tf from '@tensorflow/tfjs';
import { afterEach, describe, expect, it } from 'vitest';
import { measureProfile } from '../device/profile.ts';
import { KernelRuntime, presentRuntime, registerRuntime } from '../kernel/runtime.ts';
import { switchAllOn, switchedOff } from '../kernel/switches.ts';
import { selfAttention } from '../ops/attention.ts';
import { read, useDevice } from '../testing/device.ts';
import { tileKey } from '../matmul/problem.ts';
import { tileFor } from '../matmul/tuning.ts';
import { testCapture } from './capture-self-test.ts';
import { kernelCases } from './kernel-cases.ts';
import { testKernels } from './kernel-self-test.ts';
import { testTiles } from './tile-self-test.ts';

const present = useDevice();
afterEach(switchAllOn);

/** Changes the code of one kernel on its way to the compiler. */
async function withFault(
  name: string,
  fault: (code: string) => string,
  work: () => Promise<void>,
): Promise<void> {
  const { runtime } = present();
  const { device } = runtime;
  // What is compiled already would not be compiled again.
  registerRuntime(new KernelRuntime(runtime.backend, runtime.traits));
  const create = device.createShaderModule.bind(device);
  device.createShaderModule = (descriptor) =>
    create(descriptor.label === name ? { ...descriptor, code: fault(descriptor.code) } : descriptor);
  try {
    await work();
  } finally {
    device.createShaderModule = create;
    registerRuntime(runtime);
  }
}

describe('the self-test of kernels', () => {
  it('passes every kernel of a device that computes rightly, and leaves no tensor behind', async () => {
    const { device } = present();
    await testKernels(device);
    const before = tf.memory().numTensors;
    expect(await testKernels(device)).toEqual([]);
    expect(switchedOff()).toEqual([]);
    expect(tf.memory().numTensors).toBe(before);
  });

  it.each([
    ['cross-entropy', 'a wrong formula', (code: string) => code.replaceAll('exp(', 'abs('), 'the value is'],
    [
      'layer-norm-backward',
      'silent zeros',
      (code: string) => code.replaceAll(/dx\[(.*?)\] = .*?;/g, 'dx[$1] *= 0.0f;'),
      'the gradient of input 0 is',
    ],
    ['attention-forward', 'a shader that does not compile', () => 'nonsense', 'attention-forward'],
  ])(
    'finds %s with %s, switches it off by name, and the operation goes on with its twin',
    async (name, _, fault, reason) => {
      const { device } = present();
      await withFault(name, fault, async () => {
        const cases = kernelCases.filter(({ kernels }) => kernels.includes(name));
        expect(cases).toHaveLength(1);
        const off = await testKernels(device, cases);
        expect(off.map((entry) => entry.name)).toContain(name);
        expect(off.find((entry) => entry.name === name)?.reason).toContain(reason);
        expect(tf.getBackend()).toBe('webgpu');
      });
      // What failed was seen: nothing is left to surprise the next computation.
      expect(await device.takeFailures()).toEqual([]);
      if (name !== 'attention-forward') return;
      const sizes = { samples: 1, tokens: 2, heads: 1, keyValueHeads: 1, headWidth: 4 };
      const [o] = await read([selfAttention(tf.ones([2, 12]), sizes)]);
      for (const value of o as Float32Array) expect(value).toBeCloseTo(1, 5);
    },
  );
});

describe('tiles of products', () => {
  it('are all right here, and one that is not is never taken again', async () => {
    const { device, runtime } = present();
    expect(await testTiles(device)).toEqual([]);
    const problem = { batch: 1, m: 64, n: 64, k: 64, transposeA: false, transposeB: false };
    const usual = tileKey(tileFor(runtime, problem));
    const runInto = runtime.runInto.bind(runtime);
    runtime.runInto = (kernel, inputs, outputs) => {
      if (!kernel.key.includes(usual)) runInto(kernel, inputs, outputs);
    };
    const refused = await testTiles(device);
    runtime.runInto = runInto;
    expect(refused.map(({ tile }) => tile)).toEqual([usual]);
    expect(refused[0]?.reason).toMatch(/^element \d+ is 0, not -?\d+$/);
    expect(tileKey(tileFor(runtime, problem))).not.toBe(usual);
  });

  it('that are wrong to the last resort leave products to the twin', async () => {
    const { device } = present();
    await withFault(
      'matmul',
      (code) => code.replace(/(fn main\([^{]*\{)/, '$1 if (true) { return; }'),
      async () => {
        const refused = await testTiles({ ...device, kernels: presentRuntime() as KernelRuntime });
        expect(refused.length).toBeGreaterThan(1);
        expect(switchedOff().map(({ name }) => name)).toEqual(['matmul']);
        const [product] = await read([tf.matMul(tf.ones([4, 4]), tf.ones([4, 4]))]);
        expect(product).toEqual(new Float32Array(16).fill(4));
      },
    );
  });
});

describe('the self-test of captured steps', () => {
  it.each([
    ['accumulate', 'accumulate', '+=', '='],
    ['copy', 'copy', 'y[i] = a[i]', 'y[i] = a[0]'],
    ['layer-norm-backward', 'captured-step', '+ more', '- more'],
  ])('finds a device that adds wrongly in %s', async (kernel, name, right, wrong) => {
    const { device } = present();
    await withFault(
      kernel,
      (code) => code.replaceAll(right, wrong),
      async () => {
        await testCapture({ ...device, kernels: presentRuntime() as KernelRuntime });
        expect(switchedOff().map((entry) => entry.name)).toEqual([name]);
      },
    );
  });
});

describe('the device profile', () => {
  it('is of this very device, and there in part when the time is up', async () => {
    const { device, runtime } = present();
    const profile = await measureProfile(runtime);
    expect(profile.flopsPerSecond).toBeGreaterThan(1e7);
    expect(profile.flopsPerSecond).toBeLessThan(1e15);
    expect(profile.bytesPerSecond).toBeGreaterThan(1e7);
    expect(profile.launchMicroseconds).toBeGreaterThanOrEqual(0);
    expect(profile.launchMicroseconds).toBeLessThan(10_000);
    expect(profile.largestBufferBytes).toBeGreaterThanOrEqual(2 ** 20);
    expect(profile.largestBufferBytes).toBeLessThanOrEqual(device.maxBufferBytes);
    const hasty = await measureProfile(runtime, 0);
    expect(hasty.flopsPerSecond).toBeGreaterThan(1e6);
    expect(hasty.bytesPerSecond).toBeGreaterThan(1e6);
  });
});
