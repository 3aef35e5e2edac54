/**
 * Rows of a table by index, and the gradient of the table without one-hot matrices or atomics: each row of ids learns
 * where the same id comes next, then the first row of each id walks its chain in order.
 */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { rowElements } from '../kernel/rows.ts';

export interface EmbeddingShape {
  readonly rows: number;
  readonly entries: number;
  readonly columns: number;
  /** A second table, of positions: row r takes its row r modulo this. 0 for none. */
  readonly positions: number;
}

const size = 64;
const shapeKey = ({ rows, entries, columns, positions }: EmbeddingShape): string =>
  `${rows} ${entries}x${columns} ${positions}`;

/** Inputs ids int32 [rows], table [entries, columns] and maybe positions [>= positions, columns]. Output [rows, columns]. */
export function embeddingForward(shape: EmbeddingShape): Kernel {
  const { rows, entries, columns, positions } = shape;
  const { type, count } = rowElements(columns);
  const workgroups = Math.ceil((rows * count) / size);
  return {
    name: 'embedding-forward',
    key: `embedding-forward ${shapeKey(shape)}`,
    inputs: positions > 0 ? 3 : 2,
    outputs: 1,
    workgroups,
    flops: rows * columns,
    wgsl: () =>
      shader({
        inputs: [
          'ids : array<i32>',
          `table : array<${type}>`,
          ...(positions > 0 ? [`places : array<${type}>`] : []),
        ],
        outputs: [`y : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let index = group * ${size}u + local;
  if (index >= ${rows * count}u) { return; }
  let row = index / ${count}u;
  let i = index % ${count}u;
  let id = u32(clamp(ids[row], 0, ${entries - 1}));
  y[index] = table[id * ${count}u + i]${positions > 0 ? ` + places[row % ${positions}u * ${count}u + i]` : ''};`,
      }),
  };
}

/** Input ids int32 [rows]. Output int32 [rows, 2]: the next row with the same id (-1: none), 1 for the first of an id. */
export function embeddingChains(rows: number): Kernel {
  const workgroups = Math.ceil(rows / size);
  return {
    name: 'embedding-backward',
    key: `embedding-chains ${rows}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: rows * rows,
    wgsl: () =>
      shader({
        inputs: ['ids : array<i32>'],
        outputs: ['chains : array<vec2<i32>>'],
        workgroupSize: size,
        workgroups,
        body: `  let row = group * ${size}u + local;
  if (row >= ${rows}u) { return; }
  let id = ids[row];
  var next = -1;
  for (var r = row + 1u; r < ${rows}u; r++) {
    if (ids[r] == id) { next = i32(r); break; }
  }
  var first = 1;
  for (var r = 0u; r < row; r++) {
    if (ids[r] == id) { first = 0; break; }
  }
  chains[row] = vec2<i32>(next, first);`,
      }),
  };
}

/** Inputs ids, chains, dy [rows, columns]. Adds to the output [entries, columns]. */
export function embeddingBackward(shape: EmbeddingShape): Kernel {
  const { rows, entries, columns } = shape;
  const { type, count } = rowElements(columns);
  const workgroups = Math.ceil((rows * count) / size);
  return {
    name: 'embedding-backward',
    key: `embedding-backward ${rows} ${entries}x${columns}`,
    inputs: 3,
    outputs: 1,
    workgroups,
    flops: rows * columns,
    adds: true,
    wgsl: () =>
      shader({
        inputs: ['ids : array<i32>', 'chains : array<vec2<i32>>', `dy : array<${type}>`],
        outputs: [`table : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let index = group * ${size}u + local;
  if (index >= ${rows * count}u) { return; }
  let row = index / ${count}u;
  if (chains[row].y == 0) { return; }
  let id = ids[row];
  if (id < 0 || id >= ${entries}) { return; }
  let i = index % ${count}u;
  var sum = ${type}(0.0f);
  for (var r = i32(row); r >= 0; r = chains[r].x) { sum += dy[u32(r) * ${count}u + i]; }
  table[u32(id) * ${count}u + i] += sum;`,
      }),
  };
}

/** Input dy [samples x positions, columns]. Adds the sum over samples to the output's first `positions` rows. */
export function positionsBackward(shape: EmbeddingShape, traits: DeviceTraits): Kernel {
  const { rows, columns, positions } = shape;
  const { type, count } = rowElements(columns);
  const group = traits.software ? 16 : size;
  const workgroups = Math.ceil((positions * count) / group);
  return {
    name: 'embedding-backward',
    key: `positions-backward ${rows} ${positions}x${columns} ${group}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: rows * columns,
    adds: true,
    wgsl: () =>
      shader({
        inputs: [`dy : array<${type}>`],
        outputs: [`places : array<${type}>`],
        workgroupSize: group,
        workgroups,
        body: `  let index = group * ${group}u + local;
  if (index >= ${positions * count}u) { return; }
  var sum = ${type}(0.0f);
  for (var r = index; r < ${rows * count}u; r += ${positions * count}u) { sum += dy[r]; }
  places[index] += sum;`,
      }),
  };
}
