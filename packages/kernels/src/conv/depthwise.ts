/**
 * Depthwise convolutions, forward and backward: every input channel has `multiplier` filters of its own. Four channels
 * at a time where there is one filter for each.
 */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { count } from '../matmul/fragments.ts';
import { chunkRows } from './filter-gradient.ts';
import { gatherHead, gatherOf, orZero, pixelPlaces } from './gather.ts';
import { convKey, type ConvShape } from './shape.ts';

export const depthwiseName = 'depthwise';
export const depthwiseInputName = 'depthwise-input-gradient';
export const depthwiseFilterName = 'depthwise-filter-gradient';

interface Channels {
  readonly multiplier: number;
  readonly width: 1 | 4;
  readonly type: 'f32' | 'vec4<f32>';
  /** In units of `width`. */
  readonly inside: number;
  readonly outside: number;
}

function channelsOf({ inChannels, outChannels }: ConvShape): Channels {
  const multiplier = outChannels / inChannels;
  const width = multiplier === 1 && inChannels % 4 === 0 ? 4 : 1;
  return {
    multiplier,
    width,
    type: width === 4 ? 'vec4<f32>' : 'f32',
    inside: inChannels / width,
    outside: outChannels / width,
  };
}

function flopsOf(shape: ConvShape): number {
  const { batch, outHeight, outWidth, outChannels, filterHeight, filterWidth } = shape;
  return 2 * batch * outHeight * outWidth * outChannels * filterHeight * filterWidth;
}

/** Inputs x, filter [height, width, inChannels, multiplier]. Output y. */
export function depthwiseForward(shape: ConvShape, traits: DeviceTraits): Kernel {
  return depthwiseKernel(shape, traits, false);
}

/** Inputs dy, filter. Output dx. */
export function depthwiseInputGradient(shape: ConvShape, traits: DeviceTraits): Kernel {
  return depthwiseKernel(shape, traits, true);
}

function depthwiseKernel(
  shape: ConvShape,
  traits: DeviceTraits,
  backward: boolean,
  mode: 'write' | 'add' | 'accumulate' = 'write',
): Kernel {
  const { multiplier, type, inside, outside } = channelsOf(shape);
  const pixels = traits.software ? 4 : 2;
  const gather = gatherOf(shape, backward, pixels);
  const [depth, across] = backward ? [outside, inside] : [inside, outside];
  const invocations = shape.batch * gather.rows * gather.tiles * across;
  const workgroupSize = traits.software ? 16 : 64;
  const workgroups = Math.ceil(invocations / workgroupSize);
  const name = backward ? depthwiseInputName : depthwiseName;
  const sums = count(pixels);
  const product = (source: string, filter: string): string => `{
        let w = weights[tap + ${filter}];
        ${sums
          .map((p) => `s${p} = fma(${orZero(gather, p, `source[at${p} + ${source}]`, type)}, w, s${p});`)
          .join('\n        ')}
      }`;
  // The filters of one input channel follow each other, and so do the output channels that they make.
  const taps = backward
    ? multiplier === 1
      ? product('channel', 'channel')
      : `for (var c = channel * ${multiplier}u; c < (channel + 1u) * ${multiplier}u; c++) ${product('c', 'c')}`
    : product(multiplier === 1 ? 'channel' : `channel / ${multiplier}u`, 'channel');
  return {
    name,
    key: `${name} ${convKey(shape)} ${pixels} ${workgroupSize} ${mode}`,
    inputs: mode === 'add' ? 3 : 2,
    outputs: 1,
    workgroups,
    flops: flopsOf(shape),
    ...(mode === 'write'
      ? {
          accumulating: () => depthwiseKernel(shape, traits, backward, 'accumulate'),
          adding: () => depthwiseKernel(shape, traits, backward, 'add'),
        }
      : {}),
    wgsl: () =>
      shader({
        inputs: [
          `source : array<${type}>`,
          `weights : array<${type}>`,
          ...(mode === 'add' ? [`more : array<${type}>`] : []),
        ],
        outputs: [`result : array<${type}>`],
        workgroupSize,
        workgroups,
        body: `  let index = group * ${workgroupSize}u + local;
  if (index >= ${invocations}u) { return; }
  let channel = index % ${across}u;
  ${gatherHead(gather, across)}
  ${sums.map((p) => `var s${p} = ${type}();`).join(' ')}
  ${gather.loop(
    `let rowAt = (item * ${gather.height}u + sy) * ${gather.width * depth}u;`,
    `${pixelPlaces(gather, depth)}
      let tap = (ky * ${shape.filterWidth}u + kx) * ${outside}u;
      ${taps}`,
  )}
  let base = ((item * ${gather.rows}u + y) * ${gather.columns}u + x) * ${across}u + channel;
  ${sums
    .map((p) => {
      const at = `base + ${p * gather.step * across}u`;
      return `if (x + ${p * gather.step}u < ${gather.columns}u) { result[${at}] ${mode === 'accumulate' ? '+=' : '='} s${p}${mode === 'add' ? ` + more[${at}]` : ''}; }`;
    })
    .join('\n  ')}`,
      }),
  };
}

export function depthwiseChunks(shape: ConvShape, traits: DeviceTraits): ReturnType<typeof chunkRows> {
  return chunkRows(shape, shape.filterHeight * shape.filterWidth * channelsOf(shape).outside, traits);
}

/** Inputs x, dy. Output [chunks, height, width, inChannels, multiplier]: partial sums of chunks of rows. */
export function depthwiseFilterGradient(shape: ConvShape, traits: DeviceTraits, accumulate = false): Kernel {
  const { multiplier, type, inside, outside } = channelsOf(shape);
  const { chunks, rows } = depthwiseChunks(shape, traits);
  const { filterHeight, filterWidth, padLeft, strideWidth, dilationWidth, inWidth, inHeight } = shape;
  const results = filterHeight * filterWidth * outside;
  const invocations = chunks * results;
  const workgroupSize = traits.software ? 8 : 64;
  const workgroups = Math.ceil(invocations / workgroupSize);
  const far = inWidth + padLeft;
  return {
    name: depthwiseFilterName,
    key: `${depthwiseFilterName} ${convKey(shape)} ${chunks} ${workgroupSize} ${accumulate}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: flopsOf(shape),
    ...(accumulate || chunks > 1 ? {} : { accumulating: () => depthwiseFilterGradient(shape, traits, true) }),
    wgsl: () =>
      shader({
        inputs: [`source : array<${type}>`, `slope : array<${type}>`],
        outputs: [`result : array<${type}>`],
        workgroupSize,
        workgroups,
        body: `  let index = group * ${workgroupSize}u + local;
  if (index >= ${invocations}u) { return; }
  let channel = index % ${outside}u;
  let column = index / ${outside}u % ${filterWidth}u * ${dilationWidth}u;
  let ky = index / ${outside * filterWidth}u % ${filterHeight}u;
  let chunk = index / ${results}u;
  let low = (${padLeft}u - min(column, ${padLeft}u) + ${strideWidth - 1}u) / ${strideWidth}u;
  let high = min(${shape.outWidth}u, (${far}u - min(column, ${far}u) + ${strideWidth - 1}u) / ${strideWidth}u);
  var sum = ${type}();
  for (var row = chunk * ${rows}u; row < min((chunk + 1u) * ${rows}u, ${shape.batch * shape.outHeight}u); row++) {
    let sy = row % ${shape.outHeight}u * ${shape.strideHeight}u + ky * ${shape.dilationHeight}u - ${shape.padTop}u;
    if (sy >= ${inHeight}u) { continue; }
    let rowAt = (row / ${shape.outHeight}u * ${inHeight}u + sy) * ${inWidth}u;
    for (var ox = low; ox < high; ox++) {
      let taken = source[(rowAt + ox * ${strideWidth}u + column - ${padLeft}u) * ${inside}u + channel / ${multiplier}u];
      sum = fma(taken, slope[(row * ${shape.outWidth}u + ox) * ${outside}u + channel], sum);
    }
  }
  result[index] ${accumulate ? '+=' : '='} sum;`,
      }),
  };
}
