/** The best product of matrices that a plain shader reaches here, over a few ways to cut the work. */
import { randomNumbers, uniform } from '../data.ts';
import type { RawDevice } from './raw-device.ts';

interface Tile {
  /** Rows and columns of C for each invocation; columns in fours. */
  rows: number;
  columns: number;
  across: number;
  down: number;
  /** Of k kept in workgroup memory at a time; 0: none is, operands come straight from memory. */
  depth: number;
}

const tile = (rows: number, columns: number, across: number, down: number, depth: number): Tile => ({
  rows,
  columns,
  across,
  down,
  depth,
});

const tiles: Tile[] = [
  tile(4, 4, 8, 8, 0),
  tile(4, 8, 4, 4, 0),
  tile(8, 8, 4, 4, 0),
  tile(8, 8, 8, 8, 0),
  tile(4, 4, 8, 8, 16),
  tile(4, 4, 16, 16, 16),
  tile(8, 8, 8, 8, 8),
  tile(8, 8, 8, 8, 16),
  tile(8, 8, 16, 16, 8),
  tile(8, 8, 16, 8, 16),
  tile(8, 4, 16, 16, 16),
];

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** C = A B, all [side, side] as rows of vec4; the side is a multiple of every tile. */
function shader(side: number, { rows, columns, across, down, depth }: Tile): string {
  const quads = side / 4;
  const wide = columns / 4;
  const sums = range(rows).flatMap((r) => range(wide).map((c) => `s${r}_${c}`));
  const multiply = (a: (row: number) => string, b: (column: number) => string): string =>
    [
      ...range(rows).map((r) => `let a${r} = ${a(r)};`),
      ...range(4).flatMap((i) =>
        range(wide).flatMap((c) => [
          `let b${i}_${c} = ${b(c).replace('$', String(i))};`,
          ...range(rows).map((r) => `s${r}_${c} = fma(vec4f(a${r}[${i}]), b${i}_${c}, s${r}_${c});`),
        ]),
      ),
    ].join('\n');
  const head = `
@group(0) @binding(0) var<storage, read> A: array<vec4f>;
@group(0) @binding(1) var<storage, read> B: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> C: array<vec4f>;`;
  const start = `
@compute @workgroup_size(${across}, ${down})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
  let row = (group.y * ${down}u + local.y) * ${rows}u;
  ${sums.map((name) => `var ${name} = vec4f();`).join(' ')}`;
  const write = range(rows)
    .flatMap((r) => range(wide).map((c) => `C[(row + ${r}u) * ${quads}u + column + ${c}u] = s${r}_${c};`))
    .join('\n');
  const column = `let column = (group.x * ${across}u + local.x) * ${wide}u;`;
  if (depth === 0) {
    return `${head}${start}
  ${column}
  for (var k = 0u; k < ${quads}u; k++) {
    ${multiply(
      (r) => `A[(row + ${r}u) * ${quads}u + k]`,
      (c) => `B[(k * 4u + $u) * ${quads}u + column + ${c}u]`,
    )}
  }
  ${write}
}`;
  }
  const [aRows, aQuads, bQuads] = [rows * down, depth / 4, wide * across];
  const threads = across * down;
  const load = (name: string, count: number, index: string): string =>
    `for (var i = local.y * ${across}u + local.x; i < ${count}u; i += ${threads}u) { ${name}[i] = ${index}; }`;
  return `${head}
var<workgroup> sharedA: array<vec4f, ${aRows * aQuads}>;
var<workgroup> sharedB: array<vec4f, ${depth * bQuads}>;${start}
  ${column}
  for (var k = 0u; k < ${side}u; k += ${depth}u) {
    ${load('sharedA', aRows * aQuads, `A[(group.y * ${aRows}u + i / ${aQuads}u) * ${quads}u + k / 4u + i % ${aQuads}u]`)}
    ${load('sharedB', depth * bQuads, `B[(k + i / ${bQuads}u) * ${quads}u + group.x * ${bQuads}u + i % ${bQuads}u]`)}
    workgroupBarrier();
    for (var q = 0u; q < ${aQuads}u; q++) {
      ${multiply(
        (r) => `sharedA[(local.y * ${rows}u + ${r}u) * ${aQuads}u + q]`,
        (c) => `sharedB[(q * 4u + $u) * ${bQuads}u + local.x * ${wide}u + ${c}u]`,
      )}
    }
    workgroupBarrier();
  }
  ${write}
}`;
}

export interface MatMulCeiling {
  flops: number;
  tile: string;
  side: number;
}

/** @param sides multiples of 128, tried in order until one launch of the best tile takes `enough` seconds. */
export async function matMulCeiling(raw: RawDevice, sides: number[], enough: number): Promise<MatMulCeiling> {
  const best: MatMulCeiling = { flops: 0, tile: '', side: 0 };
  const random = randomNumbers(3);
  for (const side of sides) {
    const [a, b] = [uniform(random, side * side, 1), uniform(random, side * side, 1)];
    const buffers = [raw.buffer(Float32Array.from(a)), raw.buffer(Float32Array.from(b))];
    const c = raw.buffer(4 * side * side);
    let shortest = Infinity;
    for (const candidate of tiles) {
      const { rows, columns, across, down, depth } = candidate;
      if (!fits(raw.device, candidate)) continue;
      const pipeline = await raw.pipeline(shader(side, candidate));
      const groups: [number, number] = [side / (columns * across), side / (rows * down)];
      const seconds = await raw.seconds(pipeline, [...buffers, c], groups, 0.05);
      await verify(raw, c, a, b, side);
      shortest = Math.min(shortest, seconds);
      const flops = (2 * side ** 3) / seconds;
      if (flops <= best.flops) continue;
      const where = depth === 0 ? 'registers only' : `${depth} of k in workgroup memory`;
      Object.assign(best, { flops, side, tile: `${rows}x${columns} by ${across}x${down}, ${where}` });
    }
    for (const buffer of [...buffers, c]) buffer.destroy();
    if (shortest > enough) break;
  }
  return best;
}

function fits({ limits }: GPUDevice, { rows, columns, across, down, depth }: Tile): boolean {
  const bytes = 4 * depth * (rows * down + columns * across);
  return (
    across * down <= limits.maxComputeInvocationsPerWorkgroup &&
    bytes <= limits.maxComputeWorkgroupStorageSize
  );
}

/** A ceiling of wrong numbers would be none: the first row is computed again here. */
async function verify(
  raw: RawDevice,
  c: GPUBuffer,
  a: Float32Array,
  b: Float32Array,
  side: number,
): Promise<void> {
  const row = await raw.read(c, side);
  for (const column of [0, 1, side >> 1, side - 1]) {
    let expected = 0;
    for (let k = 0; k < side; k++) expected += (a[k] as number) * (b[k * side + column] as number);
    if (Math.abs((row[column] as number) - expected) > 1e-3 * Math.sqrt(side)) {
      throw new Error(`the ceiling's product is wrong: ${row[column]} for ${expected}`);
    }
  }
  raw.device.queue.writeBuffer(c, 0, new Float32Array(side));
}
