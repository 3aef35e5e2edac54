/** A tensor and a row that is the same for all of its rows, such as a bias: sums, differences, products, quotients. */
import { shader, type Kernel } from '../kernel/kernel.ts';
import { rowElements } from '../kernel/rows.ts';

export const rowOperationName = 'row-operation';

export type RowOperator = '+' | '-' | '*' | '/';

const size = 64;

/** Inputs x [rows, columns] and row [columns], or the other way round. Output [rows, columns]. */
export function rowOperation(
  operator: RowOperator,
  { rows, columns, rowFirst }: { rows: number; columns: number; rowFirst: boolean },
): Kernel {
  const { type, count } = rowElements(columns);
  const elements = rows * count;
  const workgroups = Math.ceil(elements / size);
  const [first, second] = rowFirst ? [`a[i % ${count}u]`, 'b[i]'] : ['a[i]', `b[i % ${count}u]`];
  return {
    name: rowOperationName,
    key: `${rowOperationName} ${operator} ${rows}x${columns} ${rowFirst}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: 3 * rows * columns,
    wgsl: () =>
      shader({
        inputs: [`a : array<${type}>`, `b : array<${type}>`],
        outputs: [`y : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let i = group * ${size}u + local;
  if (i >= ${elements}u) { return; }
  y[i] = ${first} ${operator} ${second};`,
      }),
  };
}
