/** Single operations, by shape: what is computed and how much work that is. Shared by the page and the harness. */

export type Operation =
  | { kind: 'matmul'; m: number; k: number; n: number; transposeA: boolean; transposeB: boolean }
  | { kind: 'layer norm'; rows: number; width: number }
  | { kind: 'cross-entropy'; rows: number; classes: number }
  | { kind: 'attention'; samples: number; heads: number; tokens: number; headWidth: number }
  | { kind: 'embedding'; entries: number; width: number; rows: number };

const matmul = (m: number, k: number, n: number, transposes: string): Operation => ({
  kind: 'matmul',
  m,
  k,
  n,
  transposeA: transposes[0] === 'T',
  transposeB: transposes[1] === 'T',
});

/** What a software adapter does within seconds. */
export const smallOperations: Operation[] = [
  matmul(128, 64, 192, 'NN'),
  matmul(128, 64, 192, 'NT'),
  matmul(128, 64, 192, 'TN'),
  ...[256, 512].flatMap((side) => ['NN', 'NT', 'TN'].map((t) => matmul(side, side, side, t))),
  { kind: 'layer norm', rows: 512, width: 128 },
  { kind: 'cross-entropy', rows: 512, classes: 65 },
  { kind: 'attention', samples: 4, heads: 2, tokens: 32, headWidth: 32 },
  { kind: 'attention', samples: 8, heads: 4, tokens: 64, headWidth: 32 },
  { kind: 'embedding', entries: 65, width: 128, rows: 512 },
];

/** What keeps a GPU busy; the last are those of GPT-2's 124 million parameters. */
export const largeOperations: Operation[] = [
  ...[1024, 2048, 4096].flatMap((side) => ['NN', 'NT', 'TN'].map((t) => matmul(side, side, side, t))),
  matmul(1024, 768, 3072, 'NN'),
  matmul(1024, 768, 50_257, 'NT'),
  { kind: 'layer norm', rows: 8192, width: 768 },
  { kind: 'cross-entropy', rows: 1024, classes: 50_257 },
  { kind: 'attention', samples: 1, heads: 12, tokens: 1024, headWidth: 64 },
  { kind: 'embedding', entries: 50_257, width: 768, rows: 1024 },
];

export function operationName(operation: Operation): string {
  switch (operation.kind) {
    case 'matmul': {
      const letters = `${operation.transposeA ? 'T' : 'N'}${operation.transposeB ? 'T' : 'N'}`;
      return `matmul ${letters} ${operation.m}x${operation.k}x${operation.n}`;
    }
    case 'layer norm':
      return `layer norm + gradient ${operation.rows}x${operation.width}`;
    case 'cross-entropy':
      return `cross-entropy + gradient ${operation.rows}x${operation.classes}`;
    case 'attention':
      return `attention + gradient ${operation.samples}x${operation.heads}x${operation.tokens}x${operation.headWidth}`;
    case 'embedding':
      return `embedding + gradient ${operation.rows} of ${operation.entries}x${operation.width}`;
  }
}

/** Floating-point operations, products only. */
export function operationFlops(operation: Operation): number {
  switch (operation.kind) {
    case 'matmul':
      return 2 * operation.m * operation.k * operation.n;
    case 'attention':
      // Two products forward, four backward with the probabilities kept; all pairs of tokens, masked or not.
      return 6 * 2 * operation.samples * operation.heads * operation.tokens ** 2 * operation.headWidth;
    case 'layer norm':
    case 'cross-entropy':
    case 'embedding':
      return 0;
  }
}

/** The least that must be moved: every input read once a pass, every output written once. */
export function operationBytes(operation: Operation): number {
  switch (operation.kind) {
    case 'matmul': {
      const { m, k, n } = operation;
      return 4 * (m * k + k * n + m * n);
    }
    case 'layer norm':
      // Forward x -> y; backward x, dy -> dx.
      return 4 * 5 * operation.rows * operation.width;
    case 'cross-entropy':
      // Forward reads the logits; backward reads them and writes their gradient.
      return 4 * 3 * operation.rows * operation.classes;
    case 'attention':
      // Forward q, k, v -> o; backward q, k, v, o, do -> dq, dk, dv.
      return 4 * 12 * operation.samples * operation.heads * operation.tokens * operation.headWidth;
    case 'embedding':
      // Rows read and written, upstream gradient read, and the whole table's gradient written.
      return 4 * operation.width * (3 * operation.rows + operation.entries);
  }
}

/**
 * Shapes of the inputs, without integer ones. The last of an operation with a gradient is the upstream gradient, except
 * for cross-entropy, whose value is the mean: a scalar, with 1 upstream. Attention takes queries, keys and values side
 * by side, as a model has them.
 */
export function operationInputs(operation: Operation): number[][] {
  switch (operation.kind) {
    case 'matmul': {
      const { m, k, n, transposeA, transposeB } = operation;
      return [transposeA ? [k, m] : [m, k], transposeB ? [n, k] : [k, n]];
    }
    case 'layer norm': {
      const { rows, width } = operation;
      return [[rows, width], [width], [width], [rows, width]];
    }
    case 'cross-entropy':
      return [[operation.rows, operation.classes]];
    case 'attention': {
      const { samples, heads, tokens, headWidth } = operation;
      const [rows, width] = [samples * tokens, heads * headWidth];
      return [
        [rows, 3 * width],
        [rows, width],
      ];
    }
    case 'embedding':
      return [
        [operation.entries, operation.width],
        [operation.rows, operation.width],
      ];
  }
}

/** Integer input: labels or indices, [rows] of numbers below `below`. */
export function operationIndices(operation: Operation): { rows: number; below: number } | null {
  if (operation.kind === 'cross-entropy') return { rows: operation.rows, below: operation.classes };
  if (operation.kind === 'embedding') return { rows: operation.rows, below: operation.entries };
  return null;
}

/** Whether the last of the inputs is the upstream gradient. */
export function hasUpstream({ kind }: Operation): boolean {
  return kind !== 'matmul' && kind !== 'cross-entropy';
}
