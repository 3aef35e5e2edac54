/**
 * Sums, means and extremes over an axis, in a fixed order. Where there are few results of many elements, a first pass
 * leaves partial results of chunks and a second one takes them together: no atomics, and no transposition.
 */
import { f32, shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { planRows, rowElements } from '../kernel/rows.ts';

export type Reduction = 'sum' | 'mean' | 'max' | 'min';

export const reduceName = 'reduce';

/** The input is [outer, length, inner]; the output [outer, inner]. */
export interface ReduceShape {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

interface Plan {
  /** Elements along the reduced axis, in units of `width` where that is the axis of the vectors. */
  readonly steps: number;
  readonly width: 1 | 4;
  readonly type: 'f32' | 'vec4<f32>';
  /** Inner elements, in units of `width` where that is the axis of the vectors. */
  readonly columns: number;
  readonly chunks: number;
  readonly chunk: number;
  /** Invocations that share a result. */
  readonly shared: boolean;
}

/** Invocations that keep a device busy, and the least work that is worth one more. */
const softwareInvocations = 64;
const softwareSteps = 64;
const gpuInvocations = 16_384;
const gpuSteps = 16;
const gpuWorkgroups = 512;
const gpuWorkgroupSteps = 1024;
const mostChunks = 256;
/** Rows longer than this are shared by a workgroup on a GPU. */
const longRow = 32;

function plan({ outer, length, inner }: ReduceShape, traits: DeviceTraits, whole: boolean): Plan {
  const along = inner === 1;
  const { width, type, count } = rowElements(along ? length : inner);
  const [steps, columns] = along ? [count, 1] : [length, count];
  const shared = along && !traits.software && length > longRow;
  const [busy, least] = traits.software
    ? [softwareInvocations, softwareSteps]
    : shared
      ? [gpuWorkgroups, gpuWorkgroupSteps]
      : [gpuInvocations, gpuSteps];
  const wanted = Math.min(Math.ceil(busy / (outer * columns)), Math.floor(steps / least), mostChunks);
  const chunk = whole || wanted <= 1 ? steps : Math.ceil(steps / wanted);
  return { steps, width, type, columns, chunk, chunks: Math.ceil(steps / chunk), shared };
}

/** Chunks of which a first pass leaves a partial result each; 1 where one pass is enough. */
export function reduceChunks(shape: ReduceShape, traits: DeviceTraits): number {
  return plan(shape, traits, false).chunks;
}

/**
 * The passes of a reduction. Each takes the output of the one before, which for the first of two is
 * [outer, chunks, inner].
 */
export function reduceKernels(operation: Reduction, shape: ReduceShape, traits: DeviceTraits): Kernel[] {
  const { outer, length, inner } = shape;
  const chunks = reduceChunks(shape, traits);
  const scale = operation === 'mean' ? 1 / length : 1;
  const kind = operation === 'mean' ? 'sum' : operation;
  const last = (rest: number): Kernel =>
    passKernel({ kind, shape: { outer, length: rest, inner }, scale, whole: true, traits });
  if (chunks === 1) return [last(length)];
  return [passKernel({ kind, shape, scale: 1, whole: false, traits }), last(chunks)];
}

/** The sum in one pass, as for partial sums. */
export function sumOnce(shape: ReduceShape, traits: DeviceTraits): Kernel {
  return passKernel({ kind: 'sum', shape, scale: 1, whole: true, traits });
}

interface Pass {
  readonly kind: 'sum' | 'max' | 'min';
  readonly shape: ReduceShape;
  readonly scale: number;
  /** Not in chunks. */
  readonly whole: boolean;
  readonly traits: DeviceTraits;
  readonly accumulate?: boolean;
}

function passKernel(pass: Pass): Kernel {
  const { kind, shape, scale, whole, traits, accumulate = false } = pass;
  const { outer, length, inner } = shape;
  const planned = plan(shape, traits, whole);
  const { steps, columns, chunks, shared } = planned;
  const results = outer * chunks * columns;
  const rows = shared ? planRows(results, steps / chunks, traits) : null;
  const workgroupSize = rows?.workgroupSize ?? (traits.software ? 8 : 64);
  const workgroups = rows?.workgroups ?? Math.ceil(results / workgroupSize);
  return {
    name: reduceName,
    key: `reduce ${kind} ${outer}x${length}x${inner} ${chunks} ${scale} ${workgroupSize} ${rows?.key ?? ''} ${accumulate}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: outer * length * inner,
    ...(kind === 'sum' && chunks === 1 && !accumulate
      ? { accumulating: () => passKernel({ ...pass, accumulate: true }) }
      : {}),
    wgsl: () =>
      shader({
        inputs: [`x : array<${planned.type}>`],
        outputs: [outputOf(pass, planned)],
        workgroupSize,
        workgroups,
        features: rows?.features ?? [],
        declarations: rows?.declarations ?? '',
        body: `  ${rows ? 'let index = group; let lane = local;' : `let index = group * ${workgroupSize}u + local;\n  if (index >= ${results}u) { return; }`}
  let column = index % ${columns}u;
  let first = index / ${columns}u % ${chunks}u * ${planned.chunk}u;
  let end = ${steps % planned.chunk === 0 ? `first + ${planned.chunk}u` : `min(first + ${planned.chunk}u, ${steps}u)`};
  let base = index / ${columns * chunks}u * ${steps * columns}u + column;
  ${kind === 'sum' ? sumBody(pass, planned, rows) : extremeBody(pass, planned, rows)}`,
      }),
  };
}

/** Extremes are written as bits, since WGSL has no word for NaN. */
function outputOf({ kind, shape }: Pass, { type }: Plan): string {
  const element = shape.inner === 1 ? 'f32' : type;
  return `y : array<${kind === 'sum' ? element : element.replace('f32', 'u32')}>`;
}

type Rows = ReturnType<typeof planRows> | null;

const unroll = 4;

/** Four accumulators, so that additions need not wait for each other; taken together in a fixed order. */
function sumBody({ shape, scale, accumulate = false }: Pass, planned: Plan, rows: Rows): string {
  const { width, type, columns } = planned;
  const stride = rows?.lanes ?? 1;
  const at = (i: string): string => (columns === 1 ? `base + ${i}` : `base + ${i} * ${columns}u`);
  const terms = Array.from({ length: unroll }, (_, k) => k);
  const along = shape.inner === 1;
  const total = `((s0 + s1) + (s2 + s3))`;
  const flat = along && width === 4 ? `dot(${total}, vec4<f32>(1.0f))` : total;
  return `${terms.map((k) => `var s${k} = ${type}();`).join(' ')}
  var i = first${rows ? ' + lane' : ''};
  for (; i + ${(unroll - 1) * stride}u < end; i += ${unroll * stride}u) {
    ${terms.map((k) => `s${k} += x[${at(k === 0 ? 'i' : `(i + ${k * stride}u)`)}];`).join('\n    ')}
  }
  for (; i < end; i += ${stride}u) { s0 += x[${at('i')}]; }
  let sum = ${rows ? rows.sum(flat) : flat};
  ${rows ? 'if (lane == 0u) {' : '{'} y[index] ${accumulate ? '+=' : '='} sum${scale === 1 ? '' : ` * ${f32(scale)}`}; }`;
}

/** The least is the negative of the largest of the negatives. NaN wins, as in the plain JavaScript back end. */
function extremeBody({ kind, shape }: Pass, planned: Plan, rows: Rows): string {
  const { width, type, columns } = planned;
  const stride = rows?.lanes ?? 1;
  const bits = type.replace('f32', 'u32');
  const sign = kind === 'min' ? '-' : '';
  const at = (i: string): string => (columns === 1 ? `base + ${i}` : `base + ${i} * ${columns}u`);
  const flatten = shape.inner === 1 && width === 4;
  const flat = flatten ? 'max(max(best.x, best.y), max(best.z, best.w))' : 'best';
  const flatBits = flatten ? 'max(max(largest.x, largest.y), max(largest.z, largest.w))' : 'largest';
  const one = shape.inner === 1 ? 'f32' : type;
  const oneBits = one.replace('f32', 'u32');
  const start = rows ? `min(first + lane, end - 1u)` : 'first';
  const wild = `${flatBits} > ${oneBits}(0x7f800000u)`;
  return `var best = ${sign}x[${at(start)}];
  var largest = ${bits}();
  for (var i = first${rows ? ' + lane' : ''}; i < end; i += ${stride}u) {
    let value = x[${at('i')}];
    best = max(best, ${sign}value);
    largest = max(largest, bitcast<${bits}>(value) & ${bits}(0x7fffffffu));
  }
  let result = ${sign}${rows ? rows.max(flat) : flat};
  let wild = ${rows ? `${rows.max(`select(0.0f, 1.0f, ${wild})`)} > 0.0f` : wild};
  ${rows ? 'if (lane == 0u) {' : '{'} y[index] = select(bitcast<${oneBits}>(result), ${oneBits}(0x7fc00000u), wild); }`;
}
