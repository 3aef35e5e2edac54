/**
 * The gradient of a convolution's filter: a sum over all positions of the output, in order. A filter is small and its
 * positions are many, so the positions go in chunks of rows, and a reduction adds the partial sums of the chunks.
 */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { component, count } from '../matmul/fragments.ts';
import { convFlops, convKey, type ConvShape } from './shape.ts';

export const convFilterName = 'convolution-filter-gradient';

/** An invocation keeps `taps` neighbours (of column and channel) of one filter row, times vectors of output channels. */
interface Tile {
  readonly taps: number;
  readonly vectors: number;
  /** Tiles of one filter row, tiles of output channels. */
  readonly across: number;
  readonly columns: number;
  /** The taps are channels of one filter column, loaded four at a time. */
  readonly wide: boolean;
}

const mostTaps = 8;

function tileFor({ filterWidth, inChannels, outChannels }: ConvShape): Tile {
  const vectors = outChannels >= 8 ? 2 : 1;
  const columns = Math.ceil(outChannels / (4 * vectors));
  const wide = inChannels % 4 === 0;
  const row = filterWidth * inChannels;
  const taps = wide ? (inChannels % 8 === 0 ? 8 : 4) : Math.ceil(row / Math.ceil(row / mostTaps));
  return { taps, vectors, across: Math.ceil(row / taps), columns, wide };
}

/** Invocations that keep a device busy. */
const softwareInvocations = 64;
const gpuInvocations = 16_384;
const mostChunks = 256;

interface Chunks {
  readonly chunks: number;
  /** Rows of the output, over all of the batch, in each. */
  readonly rows: number;
}

export function filterChunks(shape: ConvShape, traits: DeviceTraits): Chunks {
  const { across, columns } = tileFor(shape);
  const tiles = shape.filterHeight * across * columns;
  return chunkRows(shape, tiles, traits);
}

export function chunkRows(shape: ConvShape, tiles: number, traits: DeviceTraits): Chunks {
  const all = shape.batch * shape.outHeight;
  const busy = traits.software ? softwareInvocations : gpuInvocations;
  const rows = Math.ceil(all / Math.min(all, mostChunks, Math.ceil(busy / tiles)));
  return { chunks: Math.ceil(all / rows), rows };
}

/**
 * Inputs x [batch, inHeight, inWidth, inChannels], dy [batch, outHeight, outWidth, outChannels]. Output
 * [chunks, filterHeight, filterWidth, inChannels, outChannels].
 */
export function convFilterGradient(shape: ConvShape, traits: DeviceTraits, accumulate = false): Kernel {
  const tile = tileFor(shape);
  const { chunks, rows } = filterChunks(shape, traits);
  const { outChannels, filterHeight } = shape;
  const tiles = tile.columns * tile.across * filterHeight;
  const invocations = chunks * tiles;
  const workgroupSize = traits.software ? 8 : 64;
  const workgroups = Math.ceil(invocations / workgroupSize);
  return {
    name: convFilterName,
    key: `${convFilterName} ${convKey(shape)} ${chunks} ${workgroupSize} ${accumulate}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: convFlops(shape),
    ...(accumulate || chunks > 1 ? {} : { accumulating: () => convFilterGradient(shape, traits, true) }),
    wgsl: () =>
      shader({
        inputs: [
          `source : array<${tile.wide ? 'vec4<f32>' : 'f32'}>`,
          `slope : array<${outChannels % 4 === 0 ? 'vec4<f32>' : 'f32'}>`,
        ],
        outputs: [`result : array<${outChannels % 4 === 0 ? 'vec4<f32>' : 'f32'}>`],
        workgroupSize,
        workgroups,
        body: `  let index = group * ${workgroupSize}u + local;
  if (index >= ${invocations}u) { return; }
  let channel = index % ${tile.columns}u * ${4 * tile.vectors}u;
  let tap = index / ${tile.columns}u % ${tile.across}u * ${tile.taps}u;
  let ky = index / ${tile.columns * tile.across}u % ${filterHeight}u;
  let chunk = index / ${tiles}u;
  ${count(tile.taps)
    .flatMap((t) => count(tile.vectors).map((v) => `var s${t}_${v} = vec4<f32>();`))
    .join(' ')}
  ${tapPlaces(shape, tile)}
  for (var row = chunk * ${rows}u; row < min((chunk + 1u) * ${rows}u, ${shape.batch * shape.outHeight}u); row++) {
    let item = row / ${shape.outHeight}u;
    let sy = row % ${shape.outHeight}u * ${shape.strideHeight}u + ky * ${shape.dilationHeight}u - ${shape.padTop}u;
    if (sy >= ${shape.inHeight}u) { continue; }
    ${positions(shape, tile)}
  }
  ${filterWrites(shape, tile, accumulate)}`,
      }),
  };
}

/** Where the taps lie in a row of the input; for a tap of one filter column, also where in the output it is inside. */
function tapPlaces(shape: ConvShape, tile: Tile): string {
  const { inChannels, inWidth, outWidth, strideWidth, dilationWidth, padLeft } = shape;
  if (tile.wide) {
    const far = inWidth + padLeft;
    return `let column = tap / ${inChannels}u * ${dilationWidth}u;
  let part = tap % ${inChannels}u / 4u;
  let low = (${padLeft}u - min(column, ${padLeft}u) + ${strideWidth - 1}u) / ${strideWidth}u;
  let high = min(${outWidth}u, (${far}u - min(column, ${far}u) + ${strideWidth - 1}u) / ${strideWidth}u);`;
  }
  return count(tile.taps)
    .map(
      (t) => `let column${t} = (tap + ${t}u) / ${inChannels}u * ${dilationWidth}u;
  let part${t} = (tap + ${t}u) % ${inChannels}u;`,
    )
    .join('\n  ');
}

/** The loop over the positions of one row. */
function positions(shape: ConvShape, tile: Tile): string {
  const { inChannels, inWidth, inHeight, outWidth, outChannels, strideWidth, padLeft } = shape;
  const reach = (outWidth - 1) * strideWidth + (shape.filterWidth - 1) * shape.dilationWidth - padLeft;
  const padded = padLeft > 0 || reach >= inWidth;
  const depth = tile.wide ? inChannels / 4 : inChannels;
  const taps = tile.wide
    ? count(tile.taps / 4).map(
        (q) =>
          `let taken${q} = source[rowAt + (ox * ${strideWidth}u + column - ${padLeft}u) * ${depth}u + part + ${q}u];`,
      )
    : count(tile.taps).flatMap((t) => {
        const element = `source[rowAt + min(place${t}, ${inWidth - 1}u) * ${depth}u + part${t}]`;
        return [
          `let place${t} = ox * ${strideWidth}u + column${t} - ${padLeft}u;`,
          `let x${t} = ${padded ? `select(0.0f, ${element}, place${t} < ${inWidth}u)` : element};`,
        ];
      });
  const slopes = count(tile.vectors).map((v) => {
    if (outChannels % 4 === 0) {
      const at = `min(channel / 4u + ${v}u, ${outChannels / 4 - 1}u)`;
      return `let d${v} = slope[(row * ${outWidth}u + ox) * ${outChannels / 4}u + ${at}];`;
    }
    const elements = count(4).map(
      (i) =>
        `slope[(row * ${outWidth}u + ox) * ${outChannels}u + min(channel + ${4 * v + i}u, ${outChannels - 1}u)]`,
    );
    return `let d${v} = vec4<f32>(${elements.join(', ')});`;
  });
  const products = count(tile.taps).flatMap((t) =>
    count(tile.vectors).map((v) => {
      const value = tile.wide ? `taken${t >> 2}.${component(t & 3)}` : `x${t}`;
      return `s${t}_${v} = fma(vec4<f32>(${value}), d${v}, s${t}_${v});`;
    }),
  );
  const [from, to] = tile.wide ? ['low', 'high'] : ['0u', `${outWidth}u`];
  return `let rowAt = (item * ${inHeight}u + sy) * ${inWidth * depth}u;
    for (var ox = ${from}; ox < ${to}; ox++) {
      ${[...taps, ...slopes, ...products].join('\n      ')}
    }`;
}

function filterWrites(shape: ConvShape, tile: Tile, accumulate: boolean): string {
  const { filterHeight, filterWidth, inChannels, outChannels } = shape;
  const row = filterWidth * inChannels;
  const assign = accumulate ? '+=' : '=';
  return count(tile.taps)
    .map((t) => {
      const at = `((chunk * ${filterHeight}u + ky) * ${row}u + tap + ${t}u)`;
      const vectors = count(tile.vectors).map((v) => {
        if (outChannels % 4 === 0) {
          const place = `channel / 4u + ${v}u`;
          return `if (${place} < ${outChannels / 4}u) { result[${at} * ${outChannels / 4}u + ${place}] ${assign} s${t}_${v}; }`;
        }
        return count(4)
          .map((i) => {
            const place = `channel + ${4 * v + i}u`;
            return `if (${place} < ${outChannels}u) { result[${at} * ${outChannels}u + ${place}] ${assign} s${t}_${v}.${component(i)}; }`;
          })
          .join('\n    ');
      });
      return `if (tap + ${t}u < ${row}u) {
    ${vectors.join('\n    ')}
  }`;
    })
    .join('\n  ');
}
