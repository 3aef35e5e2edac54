/**
 * Convolutions and the gradient of their input: each invocation keeps some pixels of some channels in registers and
 * walks along taps and channels in order, without workgroup memory.
 */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { component, count } from '../matmul/fragments.ts';
import { gatherHead, gatherOf, orZero, pixelPlaces, type Gather } from './gather.ts';
import { convFlops, convKey, type ConvShape } from './shape.ts';

export interface ConvOptions {
  /** Adds a row [outChannels]; one more input. */
  readonly bias?: boolean;
  readonly relu?: boolean;
  /** Adds a tensor like the output; one more input, last. */
  readonly adding?: boolean;
  readonly accumulate?: boolean;
}

export const convName = 'convolution';
export const convInputName = 'convolution-input-gradient';

/** Inputs x [batch, inHeight, inWidth, inChannels], filter [height, width, inChannels, outChannels]. Output y. */
export function convForward(shape: ConvShape, traits: DeviceTraits, options: ConvOptions = {}): Kernel {
  return convKernel(shape, traits, false, options);
}

/** Inputs dy [batch, outHeight, outWidth, outChannels], filter. Output dx. */
export function convInputGradient(shape: ConvShape, traits: DeviceTraits): Kernel {
  return convKernel(shape, traits, true, {});
}

/** Pixels and vectors of four channels that an invocation computes. */
interface Tile {
  readonly pixels: number;
  readonly vectors: number;
}

/** Invocations that keep a GPU busy. */
const busyInvocations = 16_384;

function tileFor(shape: ConvShape, traits: DeviceTraits, backward: boolean): Tile {
  const channels = backward ? shape.inChannels : shape.outChannels;
  const vectors = channels >= 8 ? 2 : 1;
  if (traits.software) return { pixels: 4, vectors };
  const [rows, columns] = backward ? [shape.inHeight, shape.inWidth] : [shape.outHeight, shape.outWidth];
  const perPixel = shape.batch * rows * columns * Math.ceil(channels / 4);
  if (perPixel / (4 * vectors) >= busyInvocations) return { pixels: 4, vectors };
  return perPixel / 4 >= busyInvocations ? { pixels: 4, vectors: 1 } : { pixels: 2, vectors: 1 };
}

function convKernel(shape: ConvShape, traits: DeviceTraits, backward: boolean, options: ConvOptions): Kernel {
  const tile = tileFor(shape, traits, backward);
  const gather = gatherOf(shape, backward, tile.pixels);
  const channels = backward ? shape.inChannels : shape.outChannels;
  const across = Math.ceil(channels / (4 * tile.vectors));
  const invocations = shape.batch * gather.rows * gather.tiles * across;
  const workgroupSize = traits.software ? 16 : 64;
  const workgroups = Math.ceil(invocations / workgroupSize);
  const { bias = false, relu = false, adding = false, accumulate = false } = options;
  const flags = [bias && 'bias', relu && 'relu', adding && 'adding', accumulate && 'accumulate'];
  const name = backward ? convInputName : convName;
  const again = (more: ConvOptions): Kernel => convKernel(shape, traits, backward, { ...options, ...more });
  return {
    name,
    key: `${name} ${convKey(shape)} ${tile.pixels}x${tile.vectors} ${workgroupSize} ${flags.filter(Boolean).join(' ')}`,
    inputs: 2 + Number(bias) + Number(adding),
    outputs: 1,
    workgroups,
    flops: convFlops(shape),
    ...(accumulate || adding
      ? {}
      : { accumulating: () => again({ accumulate: true }), adding: () => again({ adding: true }) }),
    wgsl: () =>
      shader({
        inputs: [
          `source : array<${elementType(backward ? shape.outChannels : shape.inChannels)}>`,
          `weights : array<${elementType(shape.outChannels)}>`,
          ...(bias ? [`bias : array<${elementType(channels)}>`] : []),
          ...(adding ? [`more : array<${elementType(channels)}>`] : []),
        ],
        outputs: [`result : array<${elementType(channels)}>`],
        workgroupSize,
        workgroups,
        body: `  let index = group * ${workgroupSize}u + local;
  if (index >= ${invocations}u) { return; }
  let channel = index % ${across}u * ${4 * tile.vectors}u;
  ${gatherHead(gather, across)}
  ${count(tile.pixels)
    .flatMap((p) => count(tile.vectors).map((v) => `var s${p}_${v} = vec4<f32>();`))
    .join(' ')}
  ${mainLoop(shape, gather, tile, backward)}
  let base = (item * ${gather.rows}u + y) * ${gather.columns}u + x;
  ${writes(gather, tile, channels, options)}`,
      }),
  };
}

function elementType(channels: number): string {
  return channels % 4 === 0 ? 'vec4<f32>' : 'f32';
}

function mainLoop(shape: ConvShape, gather: Gather, tile: Tile, backward: boolean): string {
  const inner = backward ? shape.outChannels : shape.inChannels;
  const width = inner % 4 === 0 ? 4 : 1;
  const type = width === 4 ? 'vec4<f32>' : 'f32';
  const steps = inner / width;
  const sources = count(tile.pixels).map(
    (p) => `let x${p} = ${orZero(gather, p, `source[at${p} + c]`, type)};`,
  );
  const products = count(width).flatMap((j) =>
    count(tile.vectors).flatMap((v) => [
      ...count(tile.pixels).map((p) => {
        const value = width === 4 ? `x${p}.${component(j)}` : `x${p}`;
        return `s${p}_${v} = fma(vec4<f32>(${value}), w${j}_${v}, s${p}_${v});`;
      }),
    ]),
  );
  const loads = backward ? backwardWeights(shape, tile, width) : forwardWeights(shape, tile, width);
  return gather.loop(
    `let rowAt = (item * ${gather.height}u + sy) * ${gather.width * steps}u;`,
    `${pixelPlaces(gather, steps)}
      let tap = (ky * ${shape.filterWidth}u + kx) * ${shape.inChannels}u;
      for (var c = 0u; c < ${steps}u; c++) {
        ${[...sources, ...loads, ...products].join('\n        ')}
      }`,
  );
}

/** w[j]_[v]: of input channel c (times `width`) + j, four output channels. */
function forwardWeights({ outChannels }: ConvShape, tile: Tile, width: number): string[] {
  const clamped = outChannels % (4 * tile.vectors) !== 0;
  return count(width).flatMap((j) =>
    count(tile.vectors).map((v) => {
      const row = `(tap + c * ${width}u + ${j}u)`;
      if (outChannels % 4 === 0) {
        const at = clamped ? `min(channel / 4u + ${v}u, ${outChannels / 4 - 1}u)` : `channel / 4u + ${v}u`;
        return `let w${j}_${v} = weights[${row} * ${outChannels / 4}u + ${at}];`;
      }
      const elements = count(4).map(
        (i) => `weights[${row} * ${outChannels}u + min(channel + ${4 * v + i}u, ${outChannels - 1}u)]`,
      );
      return `let w${j}_${v} = vec4<f32>(${elements.join(', ')});`;
    }),
  );
}

/** w[j]_[v]: of output channel c (times `width`) + j, four input channels. */
function backwardWeights({ inChannels, outChannels }: ConvShape, tile: Tile, width: number): string[] {
  const clamped = inChannels % (4 * tile.vectors) !== 0;
  const row = (i: number): string =>
    clamped ? `(tap + min(channel + ${i}u, ${inChannels - 1}u))` : `(tap + channel + ${i}u)`;
  const rows = count(4 * tile.vectors).map(
    (i) => `let f${i} = weights[${row(i)} * ${outChannels / width}u + c];`,
  );
  const turned = count(width).flatMap((j) =>
    count(tile.vectors).map((v) => {
      const part = width === 4 ? `.${component(j)}` : '';
      return `let w${j}_${v} = vec4<f32>(${count(4)
        .map((i) => `f${4 * v + i}${part}`)
        .join(', ')});`;
    }),
  );
  return [...rows, ...turned];
}

function writes(gather: Gather, tile: Tile, channels: number, options: ConvOptions): string {
  const assign = options.accumulate ? '+=' : '=';
  const wide = channels % 4 === 0;
  const one = (sum: string, at: string, channel: string, zero: string): string => {
    const biased = options.bias ? `${sum} + bias[${channel}]` : sum;
    // Not max: it may drop a NaN.
    const active = options.relu ? `select(${biased}, ${zero}, ${biased} < ${zero})` : biased;
    return `result[${at}] ${assign} ${active}${options.adding ? ` + more[${at}]` : ''};`;
  };
  return count(tile.pixels)
    .map((p) => {
      const at = `(base + ${p * gather.step}u)`;
      const vectors = count(tile.vectors).map((v) => {
        if (wide) {
          const place = `channel / 4u + ${v}u`;
          const write = one(`s${p}_${v}`, `${at} * ${channels / 4}u + ${place}`, place, 'vec4<f32>()');
          return channels % (4 * tile.vectors) === 0
            ? write
            : `if (${place} < ${channels / 4}u) { ${write} }`;
        }
        return count(4)
          .map((i) => {
            const place = `channel + ${4 * v + i}u`;
            const write = one(`s${p}_${v}.${component(i)}`, `${at} * ${channels}u + ${place}`, place, '0.0f');
            return `if (${place} < ${channels}u) { ${write} }`;
          })
          .join('\n    ');
      });
      return `if (x + ${p * gather.step}u < ${gather.columns}u) {
    ${vectors.join('\n    ')}
  }`;
    })
    .join('\n  ');
}
