/**
 * Where the pixels that a filter takes lie. A convolution gathers from its input; the gradient of that input gathers
 * from the gradient of the output, over the taps that reach a pixel: with a stride, every stride-th one. An invocation
 * computes pixels of one row that take the same taps, so with a stride the pixels of a gradient lie a stride apart.
 */
import type { ConvShape } from './shape.ts';

export interface Gather {
  readonly batch: number;
  /** What is gathered from. */
  readonly height: number;
  readonly width: number;
  /** What is computed. */
  readonly rows: number;
  readonly columns: number;
  /** Groups of pixels along a row, `pixels` in each. */
  readonly tiles: number;
  readonly pixels: number;
  /** WGSL from `tile`, `y`: `x`, and what the taps need. */
  readonly head: string;
  /** Loops over `ky` and `kx` around `body`, in which `sx` is where the first pixel is gathered from; `sy` its row. */
  loop(beforeRow: string, body: string): string;
  /** Columns between the pixels that are computed, and between those that they gather from. */
  readonly step: number;
  readonly sourceStep: number;
  /** Whether some column that is gathered from lies outside. */
  readonly padded: boolean;
}

export function gatherOf(shape: ConvShape, backward: boolean, pixels: number): Gather {
  return backward ? backwardGather(shape, pixels) : forwardGather(shape, pixels);
}

function forwardGather(shape: ConvShape, pixels: number): Gather {
  const { strideHeight, strideWidth, dilationHeight, dilationWidth, padTop, padLeft } = shape;
  const { inHeight, inWidth, outHeight, outWidth, filterHeight, filterWidth } = shape;
  const reach = (outWidth - 1) * strideWidth + (filterWidth - 1) * dilationWidth - padLeft;
  return {
    batch: shape.batch,
    height: inHeight,
    width: inWidth,
    rows: outHeight,
    columns: outWidth,
    tiles: Math.ceil(outWidth / pixels),
    pixels,
    head: `let x = tile * ${pixels}u;`,
    // Below zero wraps round to far beyond the last row.
    loop: (beforeRow, body) => `for (var ky = 0u; ky < ${filterHeight}u; ky++) {
    let sy = y * ${strideHeight}u + ky * ${dilationHeight}u - ${padTop}u;
    if (sy >= ${inHeight}u) { continue; }
    ${beforeRow}
    for (var kx = 0u; kx < ${filterWidth}u; kx++) {
      let sx = x * ${strideWidth}u + kx * ${dilationWidth}u - ${padLeft}u;
      ${body}
    }
  }`,
    step: 1,
    sourceStep: strideWidth,
    padded: padLeft > 0 || reach >= inWidth,
  };
}

function backwardGather(shape: ConvShape, pixels: number): Gather {
  const { strideHeight, strideWidth, dilationHeight, dilationWidth, padTop, padLeft } = shape;
  const { inHeight, inWidth, outHeight, outWidth, filterHeight, filterWidth } = shape;
  const perPhase = Math.ceil(Math.ceil(inWidth / strideWidth) / pixels);
  return {
    batch: shape.batch,
    height: outHeight,
    width: outWidth,
    rows: inHeight,
    columns: inWidth,
    tiles: perPhase * strideWidth,
    pixels,
    head: `let x = tile / ${strideWidth}u * ${pixels * strideWidth}u + tile % ${strideWidth}u;
  let firstY = (y + ${padTop}u) % ${strideHeight}u;
  let firstX = (x + ${padLeft}u) % ${strideWidth}u;
  let originY = (y + ${padTop}u) / ${strideHeight}u;
  let originX = (x + ${padLeft}u) / ${strideWidth}u;`,
    loop: (
      beforeRow,
      body,
    ) => `for (var tapY = 0u; firstY + tapY * ${strideHeight}u < ${filterHeight}u; tapY++) {
    let ky = firstY + tapY * ${strideHeight}u;
    let sy = originY - tapY * ${dilationHeight}u;
    if (sy >= ${outHeight}u) { continue; }
    ${beforeRow}
    for (var tapX = 0u; firstX + tapX * ${strideWidth}u < ${filterWidth}u; tapX++) {
      let kx = firstX + tapX * ${strideWidth}u;
      let sx = originX - tapX * ${dilationWidth}u;
      ${body}
    }
  }`,
    step: strideWidth,
    sourceStep: 1,
    padded: true,
  };
}

/** Decodes `index` into `tile`, `y`, `item` and what the gather needs, after `inner` places of something else. */
export function gatherHead(gather: Gather, inner: number): string {
  return `let tile = index / ${inner}u % ${gather.tiles}u;
  let y = index / ${inner * gather.tiles}u % ${gather.rows}u;
  let item = index / ${inner * gather.tiles * gather.rows}u;
  ${gather.head}`;
}

/**
 * Statements that set `at0`, `at1`, ... to the elements where the pixels lie, with `inside0`, ... where they may lie
 * outside. Needs `rowAt`, the element at which row `sy` begins.
 */
export function pixelPlaces(gather: Gather, elements: number): string {
  return Array.from({ length: gather.pixels }, (_, p) => {
    const place = p === 0 ? 'sx' : `(sx + ${p * gather.sourceStep}u)`;
    const inside = gather.padded ? `let inside${p} = ${place} < ${gather.width}u; ` : '';
    return `${inside}let at${p} = rowAt + min(${place}, ${gather.width - 1}u) * ${elements}u;`;
  }).join('\n      ');
}

/** `value`, or nothing where pixel `p` lies outside. */
export function orZero(gather: Gather, p: number, value: string, type: string): string {
  return gather.padded ? `select(${type}(), ${value}, inside${p})` : value;
}
