/** Kernels that treat each element of some vectors of one size alike, four at a time where the size allows. */
import type * as tf from '@tensorflow/tfjs';
import { type DeviceTraits, type Kernel, shader } from '../kernel/kernel.ts';

export interface Elementwise {
  name: string;
  /** What besides size and traits the WGSL depends on. */
  variant?: string;
  size: number;
  /** Vectors read, and vectors read and written. */
  reads: readonly string[];
  writes: readonly string[];
  /** Further inputs, bound after `reads`: `name : type`. */
  small: readonly string[];
  /** Floating-point operations an element. */
  flops: number;
  /** Statements before the elements; may return where that is the same for all. */
  before?: string;
  /** Statements for the elements `i` of all vectors, of type `V`: f32 or vec4<f32>. */
  each: string;
}

const workgroupSize = 64;

export function elementwiseKernel(spec: Elementwise, { software }: DeviceTraits): Kernel {
  const { name, variant = '', size, reads, writes, small, flops, before = '', each } = spec;
  const wide = size % 4 === 0;
  const count = wide ? size / 4 : size;
  const run = software ? 16 : 1;
  const workgroups = Math.ceil(count / (workgroupSize * run));
  const vector = (label: string) => `${label} : array<V>`;
  return {
    name,
    key: `${name} ${variant} ${size} ${run}`,
    inputs: reads.length + small.length,
    outputs: writes.length,
    workgroups,
    flops: flops * size,
    wgsl: () =>
      shader({
        inputs: [...reads.map(vector), ...small],
        outputs: writes.map(vector),
        workgroupSize,
        workgroups,
        declarations: `alias V = ${wide ? 'vec4<f32>' : 'f32'};`,
        body: `${before}
  for (var step = 0u; step < ${run}u; step++) {
    let i = (group * ${run}u + step) * ${workgroupSize}u + local;
    if (i >= ${count}u) { break; }
${each}
  }`,
      }),
  };
}

/** Statements that leave everything as it is where the factor is not finite; a float comparison might not see NaN. */
export const skipUnlessFinite = `  if ((bitcast<u32>(factor[0]) & 0x7f800000u) == 0x7f800000u) { return; }`;

/** @throws Error naming both where the sizes of two tensors differ. */
export function checkSizes(name: string, ...tensors: readonly tf.Tensor[]): void {
  const shapes = tensors.map(({ shape }) => `[${shape.join(', ')}]`);
  const odd = tensors.findIndex(({ size }) => size !== tensors[0]?.size);
  if (odd > 0) throw new Error(`${name}: ${shapes[0]} and ${shapes[odd]} differ in size`);
}
