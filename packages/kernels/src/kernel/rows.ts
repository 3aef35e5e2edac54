/**
 * Kernels that reduce rows. On a GPU a workgroup shares a row and adds up in a tree; on a software adapter, where a
 * barrier costs more than a row, one invocation takes a whole row.
 */
import type { DeviceTraits } from './kernel.ts';

export interface RowPlan {
  /** Invocations that share a row. */
  readonly lanes: number;
  readonly rowsPerGroup: number;
  readonly workgroupSize: number;
  readonly workgroups: number;
  readonly features: readonly 'subgroups'[];
  /** Functions `groupSum` and `groupMax`; for one lane they are the identity. */
  readonly declarations: string;
  /** Sets `row` and `lane`; rows beyond the last return at once. */
  readonly head: string;
  /** `groupSum(x)` or `groupMax(x)` as WGSL. */
  sum(value: string): string;
  max(value: string): string;
  readonly key: string;
}

/** @param work elements of one row that the lanes share. */
export function planRows(rows: number, work: number, traits: DeviceTraits): RowPlan {
  const lanes = traits.software ? 1 : work <= 64 ? 32 : work <= 512 ? 64 : 256;
  if (lanes === 1) return oneInvocationPerRow(rows, traits);
  const { subgroups } = traits;
  const extra = subgroups ? ', local, subgroupLane, subgroupSize' : ', local';
  return {
    lanes,
    rowsPerGroup: 1,
    workgroupSize: lanes,
    workgroups: rows,
    features: subgroups ? ['subgroups'] : [],
    declarations: subgroups ? subgroupReductions(lanes) : treeReductions(lanes),
    head: 'let row = group; let lane = local;',
    sum: (value) => `groupSum(${value}${extra})`,
    max: (value) => `groupMax(${value}${extra})`,
    key: `${lanes}${subgroups ? 's' : ''}`,
  };
}

function oneInvocationPerRow(rows: number, traits: DeviceTraits): RowPlan {
  const size = traits.software ? 8 : 64;
  return {
    lanes: 1,
    rowsPerGroup: size,
    workgroupSize: size,
    workgroups: Math.ceil(rows / size),
    features: [],
    declarations: '',
    head: `let row = group * ${size}u + local; let lane = 0u;
  if (row >= ${rows}u) { return; }`,
    sum: (value) => value,
    max: (value) => value,
    key: `1x${size}`,
  };
}

function treeReductions(lanes: number): string {
  const reduce = (name: string, combine: (a: string, b: string) => string): string => `
fn ${name}(value : f32, local : u32) -> f32 {
  partial[local] = value;
  workgroupBarrier();
  for (var half = ${lanes / 2}u; half > 0u; half >>= 1u) {
    if (local < half) { partial[local] = ${combine('partial[local]', 'partial[local + half]')}; }
    workgroupBarrier();
  }
  let result = partial[0];
  workgroupBarrier();
  return result;
}`;
  return `var<workgroup> partial : array<f32, ${lanes}>;
${reduce('groupSum', (a, b) => `${a} + ${b}`)}
${reduce('groupMax', (a, b) => `max(${a}, ${b})`)}`;
}

/** Lanes of a subgroup follow each other in the workgroup; the self-test sees whether a device does otherwise. */
function subgroupReductions(lanes: number): string {
  const reduce = (name: string, operation: string, start: string, combine: string): string => `
fn ${name}(value : f32, local : u32, subgroupLane : u32, subgroupSize : u32) -> f32 {
  let mine = ${operation}(value);
  if (subgroupLane == 0u) { partial[local / subgroupSize] = mine; }
  workgroupBarrier();
  var result = ${start};
  for (var i = 0u; i < (${lanes}u + subgroupSize - 1u) / subgroupSize; i++) { ${combine} }
  workgroupBarrier();
  return result;
}`;
  return `var<workgroup> partial : array<f32, ${lanes}>;
${reduce('groupSum', 'subgroupAdd', '0.0f', 'result += partial[i];')}
${reduce('groupMax', 'subgroupMax', 'partial[0]', 'result = max(result, partial[i]);')}`;
}

/** Vector width and element type of a row of `columns`. */
export function rowElements(columns: number): { width: 1 | 4; type: 'f32' | 'vec4<f32>'; count: number } {
  return columns % 4 === 0
    ? { width: 4, type: 'vec4<f32>', count: columns / 4 }
    : { width: 1, type: 'f32', count: columns };
}

/** The sum of the components of a value of `rowElements` type. */
export function horizontal(width: 1 | 4, value: string): string {
  return width === 4 ? `dot(${value}, vec4<f32>(1.0f))` : value;
}
