/**
 * WGSL of a matrix product. Register tiles as in Nussbaum's surfgrad and the tiled products of ONNX Runtime and
 * llama.cpp (see docs/performance.md): each invocation keeps a tile of C and walks along k in order, so the sum of
 * every element has a fixed order.
 */
import { shader } from '../kernel/kernel.ts';
import { component, count, geluFunctions, operandA, operandB, type Operand } from './fragments.ts';
import type { MatMulProblem, MatMulTile } from './problem.ts';

export function workgroupsOf(problem: MatMulProblem, tile: MatMulTile): { across: number; down: number } {
  return {
    across: Math.ceil(problem.n / (tile.columns * tile.across)),
    down: Math.ceil(problem.m / (tile.rows * tile.down)),
  };
}

/**
 * Sizes are named M, N and K in the code: constants, or with `sizes: 'arguments'` values that come with the launch, so
 * that products of different sizes share a pipeline where compiling is dear.
 */
export function matMulShader(
  problem: MatMulProblem,
  tile: MatMulTile,
  sizes: 'constants' | 'arguments',
): string {
  const { m, n, k, batch } = problem;
  const a = operandA(problem, tile.rows);
  const b = operandB(problem);
  const groups = workgroupsOf(problem, tile);
  const named = sizes === 'arguments';
  const vectors = tile.columns / 4;
  const wide = n % 4 === 0;
  const activation = problem.activation ?? 'none';
  const outputType = wide ? 'vec4<f32>' : 'f32';
  const accumulators = count(tile.rows)
    .flatMap((r) => count(vectors).map((v) => `var s${r}_${v} = vec4<f32>();`))
    .join(' ');
  const loop = tile.through === 'registers' ? registerLoop : workgroupLoop;
  return shader({
    inputs: [
      `a : array<${a.type}>`,
      `b : array<${b.type}>`,
      ...(problem.bias ? [`bias : array<${outputType}>`] : []),
      ...(problem.residual ? [`residual : array<${outputType}>`] : []),
    ],
    outputs: [
      `c : array<${outputType}>`,
      ...(problem.keepPreActivation ? [`before : array<${outputType}>`] : []),
      ...(problem.columnSums ? [`sums : array<f32>`] : []),
    ],
    workgroupSize: tile.across * tile.down,
    workgroups: batch * groups.across * groups.down,
    arguments: named,
    features: tile.half ? ['f16'] : [],
    declarations: `${named ? '' : `const M = ${m}u; const N = ${n}u; const K = ${k}u;`}
${activation === 'gelu' ? geluFunctions : ''}
${tile.through === 'workgroup' ? workgroupMemory(tile) : ''}`,
    body: `
${named ? '  let M = arguments.x; let N = arguments.y; let K = arguments.z;' : ''}
  let groupsAcross = (N + ${tile.across * tile.columns - 1}u) / ${tile.across * tile.columns}u;
  let groupsDown = (M + ${tile.down * tile.rows - 1}u) / ${tile.down * tile.rows}u;
  let tileColumn = group % groupsAcross;
  let tileRow = group / groupsAcross % groupsDown;
  let item = group / (groupsAcross * groupsDown);
  let row = (tileRow * ${tile.down}u + local / ${tile.across}u) * ${tile.rows}u;
  let column = (tileColumn * ${tile.across}u + local % ${tile.across}u) * ${tile.columns}u;
  let baseA = ${problem.sharedA ? '0u' : 'item * (M * K)'};
  let baseB = ${problem.sharedB ? '0u' : 'item * (N * K)'};
  ${accumulators}
  ${loop(problem, tile, a, b)}
  if (row >= M || column >= N) { return; }
  ${problem.columnSums ? columnSums(problem, tile, b) : ''}
  ${count(tile.rows)
    .map((r) => writeRow(problem, tile, r))
    .join('\n')}`,
  });
}

/** k is walked four at a time where an operand is read so; else only where that does not lengthen the code. */
function step(problem: MatMulProblem, a: Operand, b: Operand): number {
  if (a.vector === 'k' || b.vector === 'k') return 4;
  return problem.k % 4 === 0 && a.vector !== null && b.vector !== null ? 4 : 1;
}

function registerLoop(problem: MatMulProblem, tile: MatMulTile, a: Operand, b: Operand): string {
  const { m, n } = problem;
  const width = step(problem, a, b);
  const vectors = tile.columns / 4;
  // Beyond the edge the last valid element is read again; nothing of it is written.
  const edgeRow = m % tile.rows !== 0;
  const rowAt = (r: number): string => (edgeRow ? `min(row + ${r}u, M - 1u)` : `(row + ${r}u)`);
  const columnAt = (c: number): string =>
    n % tile.columns !== 0 ? `min(column + ${c}u, N - 1u)` : `(column + ${c}u)`;
  const loads: string[] = [];
  const aAt = (r: number, j: number): string =>
    a.vector === 'k'
      ? `a${r}.${component(j)}`
      : a.vector === 'other'
        ? `a${j}_${r >> 2}.${component(r & 3)}`
        : `a${r}_${j}`;
  const bAt = (j: number, v: number): string =>
    b.vector === 'k'
      ? `vec4<f32>(${count(4)
          .map((i) => `b${4 * v + i}.${component(j)}`)
          .join(', ')})`
      : `b${j}_${v}`;
  if (a.vector === 'k') {
    for (const r of count(tile.rows)) loads.push(`let a${r} = a[(baseA + ${rowAt(r)} * K + k) / 4u];`);
  } else if (a.vector === 'other') {
    for (const j of count(width))
      for (const v of count(tile.rows / 4)) {
        const at = edgeRow ? `min(row + ${4 * v}u, M - 4u)` : `(row + ${4 * v}u)`;
        loads.push(`let a${j}_${v} = a[(baseA + (k + ${j}u) * M + ${at}) / 4u];`);
      }
  } else {
    for (const j of count(width))
      for (const r of count(tile.rows)) {
        const index = problem.transposeA ? `(k + ${j}u) * M + ${rowAt(r)}` : `${rowAt(r)} * K + k + ${j}u`;
        loads.push(`let a${r}_${j} = a[baseA + ${index}];`);
      }
  }
  if (b.vector === 'k') {
    for (const c of count(tile.columns)) {
      loads.push(`let b${c} = b[(baseB + ${columnAt(c)} * K + k) / 4u];`);
    }
  } else if (b.vector === 'other') {
    for (const j of count(width))
      for (const v of count(vectors)) {
        const at = n % tile.columns !== 0 ? `min(column + ${4 * v}u, N - 4u)` : `(column + ${4 * v}u)`;
        loads.push(`let b${j}_${v} = b[(baseB + (k + ${j}u) * N + ${at}) / 4u];`);
      }
  } else {
    for (const j of count(width))
      for (const v of count(vectors)) {
        const elements = count(4).map((i) => {
          const at = columnAt(4 * v + i);
          return problem.transposeB
            ? `b[baseB + ${at} * K + k + ${j}u]`
            : `b[baseB + (k + ${j}u) * N + ${at}]`;
        });
        loads.push(`let b${j}_${v} = vec4<f32>(${elements.join(', ')});`);
      }
  }
  const products = count(width).flatMap((j) =>
    count(vectors).flatMap((v) => {
      const fragment = `f${j}_${v}`;
      return [
        `let ${fragment} = ${bAt(j, v)};`,
        ...count(tile.rows).map((r) => `s${r}_${v} = fma(vec4<f32>(${aAt(r, j)}), ${fragment}, s${r}_${v});`),
      ];
    }),
  );
  return `for (var k = 0u; k < K; k += ${width}u) {
    ${loads.join('\n    ')}
    ${products.join('\n    ')}
  }`;
}

function workgroupMemory(tile: MatMulTile): string {
  const type = tile.half ? 'f16' : 'f32';
  return `
var<workgroup> tileA : array<${type}, ${tile.depth * tile.rows * tile.down}>;
var<workgroup> tileB : array<${type}, ${tile.depth * tile.columns * tile.across}>;`;
}

/** Both tiles lie k-major in workgroup memory, whatever the layout of the operands; outside the matrices are zeros. */
function workgroupLoop(problem: MatMulProblem, tile: MatMulTile, a: Operand, b: Operand): string {
  const [tileM, tileN] = [tile.rows * tile.down, tile.columns * tile.across];
  const threads = tile.across * tile.down;
  const vectors = tile.columns / 4;
  const copyA = copyTile({
    name: 'A',
    operand: a,
    other: 'M',
    otherTile: tileM,
    depth: tile.depth,
    threads,
    kMajor: problem.transposeA,
    half: tile.half ?? false,
  });
  const copyB = copyTile({
    name: 'B',
    operand: b,
    other: 'N',
    otherTile: tileN,
    depth: tile.depth,
    threads,
    kMajor: !problem.transposeB,
    half: tile.half ?? false,
  });
  const products = [
    ...count(vectors).map((v) => {
      const at = `kk * ${tileN}u + localColumn + ${4 * v}u`;
      const type = tile.half ? 'vec4<f16>' : 'vec4<f32>';
      return `let f${v} = vec4<f32>(${type}(tileB[${at}], tileB[${at} + 1u], tileB[${at} + 2u], tileB[${at} + 3u]));`;
    }),
    ...count(tile.rows).flatMap((r) => [
      `let a${r} = f32(tileA[kk * ${tileM}u + localRow + ${r}u]);`,
      ...count(vectors).map((v) => `s${r}_${v} = fma(vec4<f32>(a${r}), f${v}, s${r}_${v});`),
    ]),
  ];
  return `let localRow = local / ${tile.across}u * ${tile.rows}u;
  let localColumn = local % ${tile.across}u * ${tile.columns}u;
  let originA = tileRow * ${tileM}u;
  let originB = tileColumn * ${tileN}u;
  for (var k = 0u; k < K; k += ${tile.depth}u) {
    ${copyA}
    ${copyB}
    workgroupBarrier();
    for (var kk = 0u; kk < ${tile.depth}u; kk++) {
      ${products.join('\n      ')}
    }
    workgroupBarrier();
  }`;
}

interface TileCopy {
  name: 'A' | 'B';
  operand: Operand;
  /** The axis that is not k: its name, and its length in the tile. */
  other: string;
  otherTile: number;
  depth: number;
  threads: number;
  /** The matrix lies [k, other]. */
  kMajor: boolean;
  half: boolean;
}

function copyTile({ name, operand, other, otherTile, depth, threads, kMajor, half }: TileCopy): string {
  const source = name.toLowerCase();
  const width = operand.vector === null ? 1 : 4;
  const loads = (otherTile * depth) / width;
  // Neighbours in the workgroup take neighbours in memory.
  const fast = kMajor ? otherTile / width : depth / width;
  const inner = `i % ${fast}u${width === 4 ? ' * 4u' : ''}`;
  const outer = `i / ${fast}u`;
  const [kAt, otherAt] = kMajor ? [outer, inner] : [inner, outer];
  const index = kMajor ? `atK * ${other} + at` : 'at * K + atK';
  const zero = width === 4 ? 'vec4<f32>()' : '0.0f';
  const store = count(width)
    .map((i) => {
      const value = width === 4 ? `value.${component(i)}` : 'value';
      const [ko, oo] = operand.vector === 'k' ? [i, 0] : [0, i];
      return `tile${name}[(inK + ${ko}u) * ${otherTile}u + inOther + ${oo}u] = ${half ? `f16(${value})` : value};`;
    })
    .join(' ');
  return `for (var i = local; i < ${loads}u; i += ${threads}u) {
      let inK = ${kAt};
      let inOther = ${otherAt};
      let atK = k + inK;
      let at = origin${name} + inOther;
      var value = ${zero};
      if (atK < K && at < ${other}) { value = ${source}[(base${name} + ${index})${width === 4 ? ' / 4u' : ''}]; }
      ${store}
    }`;
}

/** Only the first row of invocations; a second walk along k costs less than adding in the main loop would. */
function columnSums({ transposeB, accumulate }: MatMulProblem, tile: MatMulTile, b: Operand): string {
  const at = (c: string): string => (transposeB ? `${c} * K + k` : `k * N + ${c}`);
  const element = (c: string): string => {
    const index = `baseB + ${at(c)}`;
    return b.type === 'f32' ? `b[${index}]` : `b[(${index}) / 4u][(${index}) % 4u]`;
  };
  const add = accumulate ? '+=' : '=';
  if (b.vector === 'other') {
    return `if (row == 0u) {
    for (var v = column / 4u; v < min(column / 4u + ${tile.columns / 4}u, N / 4u); v++) {
      // Four sums at a time, so that loads need not wait for each other.
      var s0 = vec4<f32>(); var s1 = vec4<f32>(); var s2 = vec4<f32>(); var s3 = vec4<f32>();
      var k = 0u;
      for (; k + 3u < K; k += 4u) {
        s0 += b[(baseB + k * N) / 4u + v];
        s1 += b[(baseB + (k + 1u) * N) / 4u + v];
        s2 += b[(baseB + (k + 2u) * N) / 4u + v];
        s3 += b[(baseB + (k + 3u) * N) / 4u + v];
      }
      for (; k < K; k++) { s0 += b[(baseB + k * N) / 4u + v]; }
      let sum = (s0 + s1) + (s2 + s3);
      for (var i = 0u; i < 4u; i++) { sums[v * 4u + i] ${add} sum[i]; }
    }
  }`;
  }
  return `if (row == 0u) {
    for (var c = column; c < min(column + ${tile.columns}u, N); c++) {
      var sum = 0.0f;
      for (var k = 0u; k < K; k++) { sum += ${element('c')}; }
      sums[c] ${add} sum;
    }
  }`;
}

function writeRow(problem: MatMulProblem, tile: MatMulTile, r: number): string {
  const { m, n } = problem;
  const vectors = tile.columns / 4;
  const wide = n % 4 === 0;
  const rowGuard = m % tile.rows !== 0 ? `row + ${r}u < M` : '';
  const start = `(item * M + row + ${r}u) * N + column`;
  const writes = count(vectors).flatMap((v) => {
    if (wide) {
      const guard = n % tile.columns !== 0 ? `column + ${4 * v}u < N` : '';
      return guarded(
        guard,
        writeValue(problem, `s${r}_${v}`, `(at + ${4 * v}u) / 4u`, `column / 4u + ${v}u`, 4),
      );
    }
    return count(4).map((i) =>
      guarded(
        `column + ${4 * v + i}u < N`,
        writeValue(problem, `s${r}_${v}.${component(i)}`, `at + ${4 * v + i}u`, `column + ${4 * v + i}u`, 1),
      ),
    );
  });
  return guarded(rowGuard, `let at = ${start};\n    ${writes.join('\n    ')}`, true);
}

function guarded(condition: string, statements: string, scoped = false): string {
  if (condition !== '') return `if (${condition}) { ${statements} }`;
  return scoped || statements.includes('let ') ? `{ ${statements} }` : statements;
}

function writeValue(
  problem: MatMulProblem,
  sum: string,
  index: string,
  column: string,
  width: number,
): string {
  const activation = problem.activation ?? 'none';
  let statements = `let value = ${sum}${problem.bias ? ` + bias[${column}]` : ''};`;
  if (problem.keepPreActivation) statements += ` before[${index}] = value;`;
  let result = 'value';
  if (activation === 'gelu') {
    result =
      width === 4
        ? `vec4<f32>(${count(4)
            .map((i) => `gelu(value.${component(i)})`)
            .join(', ')})`
        : 'gelu(value)';
  } else if (activation === 'relu') {
    // Not max: it may drop a NaN.
    result =
      width === 4 ? 'select(value, vec4<f32>(), value < vec4<f32>())' : 'select(value, 0.0f, value < 0.0f)';
  }
  if (problem.residual) result += ` + residual[${index}]`;
  return `${statements} c[${index}] ${problem.accumulate ? '+=' : '='} ${result};`;
}
