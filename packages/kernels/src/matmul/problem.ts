/** Matrix products with what can be folded into them. */

export type Activation = 'none' | 'gelu' | 'relu';

export interface MatMulProblem {
  /** C[batch, m, n] = op(A)[batch, m, k] op(B)[batch, k, n]. */
  readonly batch: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** A is stored [batch, k, m]. */
  readonly transposeA: boolean;
  /** B is stored [batch, n, k]. */
  readonly transposeB: boolean;
  /** One A (or B) for all of the batch. */
  readonly sharedA?: boolean;
  readonly sharedB?: boolean;
  /** Adds a row [n] to every row. */
  readonly bias?: boolean;
  readonly activation?: Activation;
  /** Also writes what goes into the activation, for its gradient. */
  readonly keepPreActivation?: boolean;
  /** Adds a matrix [batch, m, n] after the activation. */
  readonly residual?: boolean;
  /** Also writes the sums of op(B) over k, [n]: the bias gradient beside the weight gradient. Batch 1 only. */
  readonly columnSums?: boolean;
  /** Adds to what the outputs hold. */
  readonly accumulate?: boolean;
}

/** How the work is cut. Each invocation computes a tile of `rows` x `columns`; `columns` is a multiple of 4. */
export interface MatMulTile {
  /** Operands straight from memory, no barriers; or through workgroup memory, `depth` of k at a time. */
  readonly through: 'registers' | 'workgroup';
  readonly rows: number;
  readonly columns: number;
  /** Invocations across and down. */
  readonly across: number;
  readonly down: number;
  readonly depth: number;
  /** Operands are rounded to float16 in workgroup memory; sums stay float32. */
  readonly half?: boolean;
}

export function problemKey(problem: MatMulProblem): string {
  const { batch, m, n, k } = problem;
  return `${batch}x${m}x${n}x${k}${flagsKey(problem)}`;
}

/** Layout and foldings. */
export function flagsKey(problem: MatMulProblem): string {
  const flags = [
    problem.transposeA && 'ta',
    problem.transposeB && 'tb',
    problem.sharedA && 'sa',
    problem.sharedB && 'sb',
    problem.bias && 'bias',
    problem.activation !== undefined && problem.activation !== 'none' && problem.activation,
    problem.keepPreActivation && 'pre',
    problem.residual && 'res',
    problem.columnSums && 'sums',
    problem.accumulate && 'acc',
  ].filter(Boolean);
  return flags.map((flag) => `-${String(flag)}`).join('');
}

export function tileKey({ through, rows, columns, across, down, depth, half }: MatMulTile): string {
  return `${through} ${rows}x${columns} ${across}x${down} ${depth}${half ? ' half' : ''}`;
}

export function matMulFlops({ batch, m, n, k }: MatMulProblem): number {
  return 2 * batch * m * n * k;
}
