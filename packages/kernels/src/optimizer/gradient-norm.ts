/**
 * The norm of a gradient that may lie in many tensors, and the factor that keeps it below a maximum (Pascanu et al.,
 * arXiv 1211.5063), without a read-back. Sums are taken in a fixed order: the same bits each time on one device.
 */
import * as tf from '@tensorflow/tfjs';
import { type DeviceTraits, type Kernel, shader } from '../kernel/kernel.ts';
import { presentRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { scalarAt } from './scalars.ts';

const lanes = 256;
const softwareLanes = 16;

/** How a vector is divided: each workgroup takes `run` elements (of four values, where they divide) a lane. */
interface Division {
  wide: boolean;
  count: number;
  workgroupSize: number;
  workgroups: number;
  run: number;
  /** Sums that the first pass leaves: one a workgroup, or where barriers are dear one a lane. */
  partials: number;
}

function divide(size: number, software: boolean): Division {
  const wide = size % 4 === 0;
  const count = wide ? size / 4 : size;
  const [workgroupSize, most, least] = software ? [softwareLanes, 64, 16] : [lanes, 1024, 8];
  const run = Math.max(least, Math.ceil(count / (workgroupSize * most)));
  const workgroups = Math.ceil(count / (workgroupSize * run));
  return {
    wide,
    count,
    workgroupSize,
    workgroups,
    run,
    partials: workgroups * (software ? workgroupSize : 1),
  };
}

/** Adds up `sum` of all lanes into that of lane 0; the second component is a flag, of which the larger counts. */
const tree = `  sums[local] = sum;
  for (var reach = ${lanes / 2}u; reach > 0u; reach /= 2u) {
    workgroupBarrier();
    if (local < reach) { sums[local] = joined(sums[local], sums[local + reach]); }
  }
  sum = sums[0];`;

function declarations(software: boolean): string {
  return `fn joined(a : vec2<f32>, b : vec2<f32>) -> vec2<f32> { return vec2<f32>(a.x + b.x, max(a.y, b.y)); }
${software ? '' : `var<workgroup> sums : array<vec2<f32>, ${lanes}>;`}`;
}

/** vector [size] -> [partials, 2]: sums of squares, and 1 where a value is not finite, else 0. */
export function squaresKernel(size: number, { software }: DeviceTraits): Kernel {
  const { wide, count, workgroupSize, workgroups, run } = divide(size, software);
  const [value, bits] = wide ? ['vec4<f32>', 'vec4<u32>'] : ['f32', 'u32'];
  return {
    name: 'sum-of-squares',
    key: `sum-of-squares ${size} ${software}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: 2 * size,
    wgsl: () =>
      shader({
        inputs: [`vector : array<${value}>`],
        outputs: ['partials : array<vec2<f32>>'],
        workgroupSize,
        workgroups,
        declarations: declarations(software),
        body: `  var total = ${value}();
  var largest = ${bits}();
  for (var step = 0u; step < ${run}u; step++) {
    let i = (group * ${run}u + step) * ${workgroupSize}u + local;
    if (i >= ${count}u) { break; }
    let x = vector[i];
    total += x * x;
    largest = max(largest, bitcast<${bits}>(x) & ${bits}(0x7fffffffu));
  }
  let wild = ${wide ? 'any(largest >= vec4<u32>(0x7f800000u))' : 'largest >= 0x7f800000u'};
  var sum = vec2<f32>(${wide ? '(total.x + total.y) + (total.z + total.w)' : 'total'}, f32(wild));
${
  software
    ? `  partials[group * ${workgroupSize}u + local] = sum;`
    : `${tree}
  if (local == 0u) { partials[group] = sum; }`
}`,
      }),
  };
}

/** [partials, 2] of `squaresKernel(size)` -> [2], or added to what is there. */
export function totalKernel(size: number, { software }: DeviceTraits, adding: boolean): Kernel {
  const { partials } = divide(size, software);
  const workgroupSize = software ? 1 : lanes;
  return {
    name: 'sum-of-squares',
    key: `sum-of-squares total ${partials} ${software} ${adding}`,
    inputs: 1,
    outputs: 1,
    workgroups: 1,
    flops: partials,
    wgsl: () =>
      shader({
        inputs: ['partials : array<vec2<f32>>'],
        outputs: ['totals : array<vec2<f32>>'],
        workgroupSize,
        workgroups: 1,
        declarations: declarations(software),
        body: `  var sum = vec2<f32>();
  for (var i = local; i < ${partials}u; i += ${workgroupSize}u) { sum = joined(sum, partials[i]); }
${software ? '' : tree}
  if (local == 0u) {
    ${adding ? 'sum = joined(totals[0], sum);' : ''}
    // A sum of finite squares can be too large all the same.
    let wild = (bitcast<u32>(sum.x) & 0x7f800000u) == 0x7f800000u;
    totals[0] = vec2<f32>(sum.x, max(sum.y, f32(wild)));
  }`,
      }),
  };
}

/**
 * Over all values of all `gradients`, one at least.
 * @returns [2]: the sum of squares; and 0, or 1 where a value is not finite or the sum too large for float32 (the sum
 * then says nothing).
 */
export function gradientSumOfSquares(gradients: tf.Tensor | readonly tf.Tensor[]): tf.Tensor1D {
  const list = [gradients].flat() as tf.Tensor[];
  const runtime = presentRuntime();
  if (!runtime || !switchedOn('sum-of-squares')) return sumOfSquaresTwin(list);
  const { traits } = runtime;
  let totals: tf.Tensor | undefined;
  for (const gradient of list) {
    const { partials } = divide(gradient.size, traits.software);
    const [sums] = runtime.run(squaresKernel(gradient.size, traits), [gradient], [{ shape: [partials * 2] }]);
    const total = totalKernel(gradient.size, traits, totals !== undefined);
    if (totals) runtime.runInto(total, [sums as tf.Tensor], [totals]);
    else [totals] = runtime.run(total, [sums as tf.Tensor], [{ shape: [2] }]);
    sums?.dispose();
  }
  return totals as tf.Tensor1D;
}

function sumOfSquaresTwin(gradients: readonly tf.Tensor[]): tf.Tensor1D {
  return tf.tidy(() => {
    const sum = tf.addN(gradients.map((gradient) => tf.sum(tf.square(gradient))));
    return tf.stack([sum, tf.cast(tf.notEqual(tf.mul(sum, 0), 0), 'float32')]) as tf.Tensor1D;
  });
}

/**
 * The float32 [2] that `clipFactor` takes.
 * @param scale what the gradient is to be multiplied by in any case, such as 1 / tokens.
 * @param maximalNorm of the scaled gradient; null for none.
 */
export function clipSettings(scale: number, maximalNorm: number | null): Float32Array {
  return Float32Array.of(scale, maximalNorm ?? 0);
}

/** sums [2], settings [2] -> [1] */
export function clipFactorKernel(): Kernel {
  return {
    name: 'clip-factor',
    key: 'clip-factor',
    inputs: 2,
    outputs: 1,
    workgroups: 1,
    flops: 4,
    wgsl: () =>
      shader({
        inputs: ['sums : array<f32>', 'settings : array<f32>'],
        outputs: ['factor : array<u32>'],
        workgroupSize: 1,
        workgroups: 1,
        body: `  let scale = settings[0];
  let limit = settings[1];
  let norm = sqrt(sums[0]) * abs(scale);
  var clipped = scale;
  if (limit > 0.0f && norm > limit) { clipped = scale * (limit / norm); }
  factor[0] = select(bitcast<u32>(clipped), 0x7fc00000u, sums[1] > 0.0f);`,
      }),
  };
}

/**
 * The factor for `adamW`, `sgd` or `scaleBy`: `scale`, and less where the norm would exceed its maximum.
 * @param sums of `gradientSumOfSquares`. @param settings `clipSettings` as a tensor [2].
 * @returns [1]; NaN where the gradient is not finite, by which `adamW` and `sgd` skip the step.
 */
export function clipFactor(sums: tf.Tensor1D, settings: tf.Tensor): tf.Tensor1D {
  const runtime = presentRuntime();
  if (runtime && switchedOn('clip-factor')) {
    return runtime.run(clipFactorKernel(), [sums, settings], [{ shape: [1] }])[0] as tf.Tensor1D;
  }
  return tf.tidy(() => {
    const [scale, limit] = [scalarAt(settings, 0), scalarAt(settings, 1)];
    const norm = tf.mul(tf.sqrt(scalarAt(sums, 0)), tf.abs(scale));
    const clipped = tf.mul(scale, tf.div(limit, tf.maximum(norm, limit)));
    const factor = tf.where(tf.greater(limit, 0), clipped, scale);
    return tf.where(tf.greater(scalarAt(sums, 1), 0), tf.scalar(NaN), factor).reshape([1]);
  });
}
