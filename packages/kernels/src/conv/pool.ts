/**
 * Pooling and its gradients: one invocation for each pixel, of four channels where they divide. The gradient of a
 * maximum looks through the windows over a pixel again instead of keeping positions: the first of equals takes it all.
 */
import { f32, shader, type Kernel } from '../kernel/kernel.ts';
import { rowElements } from '../kernel/rows.ts';
import { count } from '../matmul/fragments.ts';
import { convKey, type ConvShape } from './shape.ts';

export const poolName = 'pool';
export const poolGradientName = 'pool-gradient';

export type Pooling = 'max' | 'mean';

const size = 64;

interface Source {
  readonly name: string;
  readonly pooling: Pooling;
  readonly shape: ConvShape;
  readonly inputs: readonly string[];
  /** Pixels that are computed. */
  readonly rows: number;
  readonly columns: number;
  readonly body: (type: string, channels: number) => string;
}

function poolKernel({ name, pooling, shape, inputs, rows, columns, body }: Source): Kernel {
  const { type, count: channels } = rowElements(shape.inChannels);
  const invocations = shape.batch * rows * columns * channels;
  const workgroups = Math.ceil(invocations / size);
  const { filterHeight, filterWidth } = shape;
  return {
    name,
    key: `${name} ${pooling} ${convKey(shape)}`,
    inputs: inputs.length,
    outputs: 1,
    workgroups,
    flops: 2 * shape.batch * rows * columns * shape.inChannels * filterHeight * filterWidth,
    wgsl: () =>
      shader({
        inputs: inputs.map((input) => `${input} : array<${type}>`),
        outputs: [`result : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let index = group * ${size}u + local;
  if (index >= ${invocations}u) { return; }
  let channel = index % ${channels}u;
  let column = index / ${channels}u % ${columns}u;
  let row = index / ${channels * columns}u % ${rows}u;
  let item = index / ${channels * columns * rows}u;
  ${body(type, channels)}`,
      }),
  };
}

/** The input rows (or columns) [from, to) of a window. */
function windowRange(at: string, [length, filter, stride, pad]: readonly number[]): [string, string] {
  return [
    `max(${at} * ${stride}u, ${pad}u) - ${pad}u`,
    `min(${at} * ${stride}u + ${filter}u - min(${at} * ${stride}u + ${filter}u, ${pad}u), ${length}u)`,
  ];
}

const rowsOf = ({ inHeight, filterHeight, strideHeight, padTop }: ConvShape): number[] => [
  inHeight,
  filterHeight,
  strideHeight,
  padTop,
];
const columnsOf = ({ inWidth, filterWidth, strideWidth, padLeft }: ConvShape): number[] => [
  inWidth,
  filterWidth,
  strideWidth,
  padLeft,
];

/** Input x. Output the maximum or the mean of what lies inside each window. */
export function poolForward(pooling: Pooling, shape: ConvShape): Kernel {
  const [firstY, endY] = windowRange('row', rowsOf(shape));
  const [firstX, endX] = windowRange('column', columnsOf(shape));
  return poolKernel({
    name: poolName,
    pooling,
    shape,
    inputs: ['x'],
    rows: shape.outHeight,
    columns: shape.outWidth,
    body: (type, channels) => {
      const at = (y: string, x: string): string =>
        `x[((item * ${shape.inHeight}u + ${y}) * ${shape.inWidth}u + ${x}) * ${channels}u + channel]`;
      return `let firstY = ${firstY};
  let endY = ${endY};
  let firstX = ${firstX};
  let endX = ${endX};
  var all = ${pooling === 'max' ? at('firstY', 'firstX') : `${type}()`};
  for (var sy = firstY; sy < endY; sy++) {
    for (var sx = firstX; sx < endX; sx++) {
      ${pooling === 'max' ? `all = max(all, ${at('sy', 'sx')});` : `all += ${at('sy', 'sx')};`}
    }
  }
  result[index] = all${pooling === 'max' ? '' : ' / f32((endY - firstY) * (endX - firstX))'};`;
    },
  });
}

/** Windows that divide the input between them, few enough of their pixels that an invocation takes a whole window. */
function disjoint(shape: ConvShape): boolean {
  const { filterHeight, filterWidth, strideHeight, strideWidth, outHeight, outWidth } = shape;
  return (
    strideHeight === filterHeight &&
    strideWidth === filterWidth &&
    outHeight * filterHeight === shape.inHeight &&
    outWidth * filterWidth === shape.inWidth &&
    filterHeight * filterWidth <= 16
  );
}

function disjointMaxGradient(shape: ConvShape): Kernel {
  const { inHeight, inWidth, filterHeight, filterWidth, outHeight, outWidth } = shape;
  const taps = count(filterHeight * filterWidth);
  return poolKernel({
    name: poolGradientName,
    pooling: 'max',
    shape,
    inputs: ['dy', 'x'],
    rows: outHeight,
    columns: outWidth,
    body: (type, channels) => {
      const places = type.replace('f32', 'u32');
      const at = (t: number): string =>
        `at + ${(Math.floor(t / filterWidth) * inWidth + (t % filterWidth)) * channels}u`;
      return `let at = ((item * ${inHeight}u + row * ${filterHeight}u) * ${inWidth}u + column * ${filterWidth}u) * ${channels}u + channel;
  var best = x[at];
  var place = ${places}();
  ${taps
    .slice(1)
    .map(
      (t) =>
        `let x${t} = x[${at(t)}]; place = select(place, ${places}(${t}u), x${t} > best); best = max(best, x${t});`,
    )
    .join('\n  ')}
  ${taps.map((t) => `result[${at(t)}] = select(${type}(), dy[index], place == ${places}(${t}u));`).join('\n  ')}`;
    },
  });
}

/** Inputs dy, and for the maximum x. Output dx. The mean of TensorFlow.js divides by the whole window here. */
export function poolGradient(pooling: Pooling, shape: ConvShape): Kernel {
  if (pooling === 'max' && disjoint(shape)) return disjointMaxGradient(shape);
  const { filterHeight, filterWidth, strideHeight, strideWidth, outHeight, outWidth, padTop, padLeft } =
    shape;
  const [firstY, endY] = windowRange('oy', rowsOf(shape));
  const [firstX, endX] = windowRange('ox', columnsOf(shape));
  // Windows over a pixel: those that begin at it or before, and after it less a window.
  const firstWindow = (at: string, filter: number, stride: number, pad: number): string =>
    `(max(${at} + ${pad + stride}u, ${filter}u) - ${filter}u) / ${stride}u`;
  return poolKernel({
    name: poolGradientName,
    pooling,
    shape,
    inputs: pooling === 'max' ? ['dy', 'x'] : ['dy'],
    rows: shape.inHeight,
    columns: shape.inWidth,
    body: (type, channels) => {
      const slope = `dy[((item * ${outHeight}u + oy) * ${outWidth}u + ox) * ${channels}u + channel]`;
      const flag = type.startsWith('vec') ? 'vec4<bool>' : 'bool';
      const mine = pooling === 'max' ? 'let mine = x[index];' : '';
      const add =
        pooling === 'mean'
          ? `sum += ${slope};`
          : `var best = ${flag}(true);
      for (var sy = ${firstY}; sy < ${endY}; sy++) {
        for (var sx = ${firstX}; sx < ${endX}; sx++) {
          let other = x[((item * ${shape.inHeight}u + sy) * ${shape.inWidth}u + sx) * ${channels}u + channel];
          let before = sy < row || (sy == row && sx < column);
          best = best & select(other <= mine, other < mine, ${flag}(before));
        }
      }
      sum += select(${type}(), ${slope}, best);`;
      return `${mine}
  var sum = ${type}();
  let endOy = min((row + ${padTop}u) / ${strideHeight}u + 1u, ${outHeight}u);
  let endOx = min((column + ${padLeft}u) / ${strideWidth}u + 1u, ${outWidth}u);
  for (var oy = ${firstWindow('row', filterHeight, strideHeight, padTop)}; oy < endOy; oy++) {
    for (var ox = ${firstWindow('column', filterWidth, strideWidth, padLeft)}; ox < endOx; ox++) {
      ${add}
    }
  }
  result[index] = sum${pooling === 'mean' ? ` * ${f32(1 / (filterHeight * filterWidth))}` : ''};`;
    },
  });
}
