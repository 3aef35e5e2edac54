/** What the tests of kernels rest on: the adapter that was meant, and errors that do not go unseen. */
import * as tf from '@tensorflow/tfjs';
import { describe, expect, inject, it } from 'vitest';
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { planRows } from '../kernel/rows.ts';
import { randomNumbers, randomVector, read, relativeError, useDevice } from './device.ts';

const present = useDevice();

/** Set by the configuration of a run that is for one adapter. */
declare module 'vitest' {
  export interface ProvidedContext {
    adapter?: { name: string; features: string[] };
  }
}

const copyKernel = (parts: Partial<Kernel>, body = '  y[local] = x[local];'): Kernel => ({
  name: 'copy',
  key: `copy ${JSON.stringify(parts)} ${body}`,
  inputs: 1,
  outputs: 1,
  workgroups: 1,
  flops: 64,
  wgsl: () =>
    shader({
      inputs: ['x : array<f32>'],
      outputs: ['y : array<f32>'],
      workgroupSize: 64,
      workgroups: 1,
      body,
    }),
  ...parts,
});

it('the adapter is the one that this run is for', () => {
  const adapter = inject('adapter');
  if (!adapter) return;
  const { info, features } = present().device;
  expect(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`).toMatch(
    new RegExp(adapter.name, 'i'),
  );
  expect(features).toEqual(expect.arrayContaining(adapter.features));
});

describe('an error that nobody caught is a failure of the test:', () => {
  it.each<[string, Kernel, RegExp]>([
    ['a shader that does not compile', copyKernel({}, '  y[local] = nothing;'), /unresolved value 'nothing'/],
    ['a grid that is too large', copyKernel({ workgroups: 32_768 * 65_536 }), /65535|dimension/],
    ['a buffer that the shader has and the kernel has not', copyKernel({ inputs: 0 }), /binding/i],
  ])('%s', async (_, kernel, words) => {
    const { device, runtime } = present();
    const x = tf.zeros([64]);
    const y = runtime.run(kernel, kernel.inputs === 0 ? [] : [x], [{ shape: [64] }]);
    await device.idle();
    // Taken here; left alone, they fail the test after its end.
    const failures = await device.takeFailures();
    expect(failures.map(({ message }) => message).join('\n')).toMatch(words);
    tf.dispose([x, ...y]);
  });

  it('nothing, where nothing is wrong', async () => {
    const { runtime } = present();
    const x = tf.range(0, 64);
    const [y] = await read(runtime.run(copyKernel({}), [x], [{ shape: [64] }]));
    x.dispose();
    expect(Array.from(y as Float32Array)).toEqual(Array.from({ length: 64 }, (_, i) => i));
  });
});

describe('sums and maxima of a workgroup', () => {
  const rows = 5;
  /** Each row's sum and maximum. */
  const reduction = (columns: number, traits: DeviceTraits): Kernel => {
    const plan = planRows(rows, columns, traits);
    return {
      name: 'rows',
      key: `rows ${columns} ${plan.key}`,
      inputs: 1,
      outputs: 1,
      workgroups: plan.workgroups,
      flops: rows * columns,
      wgsl: () =>
        shader({
          inputs: ['x : array<f32>'],
          outputs: ['y : array<vec2<f32>>'],
          workgroupSize: plan.workgroupSize,
          workgroups: plan.workgroups,
          features: plan.features,
          declarations: plan.declarations,
          body: `  ${plan.head}
  var sum = 0.0f;
  var largest = -3.4e38f;
  for (var i = lane; i < ${columns}u; i += ${plan.lanes}u) {
    sum += x[row * ${columns}u + i];
    largest = max(largest, x[row * ${columns}u + i]);
  }
  let result = vec2<f32>(${plan.sum('sum')}, ${plan.max('largest')});
  if (lane == 0u) { y[row] = result; }`,
        }),
    };
  };

  it.each([
    [1, true],
    [1, false],
    [33, true],
    [33, false],
    [64, true],
    [500, true],
    [500, false],
    [3000, true],
    [3000, false],
  ])('of rows of %i, subgroups: %s', async (columns, subgroups) => {
    const { runtime } = present();
    const { traits } = runtime;
    for (const software of [true, false]) {
      const values = randomVector(rows * columns, randomNumbers(columns));
      const x = tf.tensor1d(values);
      const kernel = reduction(columns, {
        ...traits,
        software,
        subgroups: subgroups && traits.subgroups,
      });
      const [got] = await read(runtime.run(kernel, [x], [{ shape: [rows, 2] }]));
      x.dispose();
      const each = Array.from({ length: rows }, (_, row) =>
        Array.from(values.subarray(row * columns, (row + 1) * columns)),
      );
      expect(
        relativeError(
          (got as Float32Array).filter((_, i) => i % 2 === 0),
          each.map((row) => row.reduce((a, b) => a + b, 0)),
        ),
      ).toBeLessThan(1e-5);
      expect((got as Float32Array).filter((_, i) => i % 2 === 1)).toEqual(
        Float32Array.from(each, (row) => Math.max(...row)),
      );
    }
  });
});

it('float16 arithmetic is there where the device says so', async ({ skip }) => {
  const { runtime } = present();
  if (!runtime.traits.f16) skip('no shader-f16');
  const kernel: Kernel = {
    ...copyKernel({ key: 'half' }),
    wgsl: () =>
      shader({
        inputs: ['x : array<f32>'],
        outputs: ['y : array<f32>'],
        workgroupSize: 64,
        workgroups: 1,
        features: ['f16'],
        body: '  y[local] = f32(f16(x[local]) + 1.0h);',
      }),
  };
  // In float16 numbers from 2048 on are two apart, and ties go to even.
  const x = tf.range(2040, 2104);
  const [y] = await read(runtime.run(kernel, [x], [{ shape: [64] }]));
  x.dispose();
  const half = (value: number): number =>
    value < 2048 ? value : 4 * Math.floor(value / 4) + nearest(value % 4);
  const nearest = (rest: number): number => (rest < 1.5 ? (rest <= 1 ? 0 : 2) : rest < 3 ? 2 : 4);
  expect(Array.from(y as Float32Array)).toEqual(
    Array.from({ length: 64 }, (_, i) => half(half(2040 + i) + 1)),
  );
});
