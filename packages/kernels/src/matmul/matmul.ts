/** The kernel of a matrix product, and which tile it takes. */
import type { DeviceTraits, Kernel } from '../kernel/kernel.ts';
import {
  flagsKey,
  matMulFlops,
  problemKey,
  tileKey,
  type MatMulProblem,
  type MatMulTile,
} from './problem.ts';
import { operandA, operandB } from './fragments.ts';
import { matMulShader, workgroupsOf } from './shader.ts';

export const matMulName = 'matmul';

/** Sizes are constants on a GPU; where compiling is dear, products of many sizes share a pipeline. */
export function matMulKernel(problem: MatMulProblem, tile: MatMulTile, traits: DeviceTraits): Kernel {
  const groups = workgroupsOf(problem, tile);
  const sizes = traits.software ? 'arguments' : 'constants';
  return {
    name: matMulName,
    key: `${matMulName} ${sizes === 'arguments' ? formKey(problem, tile) : problemKey(problem)} ${tileKey(tile)}`,
    wgsl: () => matMulShader(problem, tile, sizes),
    inputs: 2 + Number(problem.bias ?? false) + Number(problem.residual ?? false),
    outputs: 1 + Number(problem.keepPreActivation ?? false) + Number(problem.columnSums ?? false),
    workgroups: problem.batch * groups.across * groups.down,
    ...(sizes === 'arguments' ? { arguments: [problem.m, problem.n, problem.k] } : {}),
    flops: matMulFlops(problem),
    ...(problem.accumulate || problem.keepPreActivation
      ? {}
      : { accumulating: () => matMulKernel({ ...problem, accumulate: true }, tile, traits) }),
    ...(problem.residual || problem.accumulate
      ? {}
      : { adding: () => matMulKernel({ ...problem, residual: true }, tile, traits) }),
  };
}

/** All that the code depends on beside the numbers it is given. */
function formKey(problem: MatMulProblem, tile: MatMulTile): string {
  const { m, n, k } = problem;
  const form = [
    operandA(problem, tile.rows).vector,
    operandB(problem).vector,
    k % 4 === 0,
    m % tile.rows === 0,
    n % tile.columns === 0,
    n % 4 === 0,
  ];
  return `${form.join()}${flagsKey(problem)}`;
}

const registers = (rows: number, columns: number, across: number, down: number): MatMulTile => ({
  through: 'registers',
  rows,
  columns,
  across,
  down,
  depth: 1,
});
const workgroup = (
  rows: number,
  columns: number,
  across: number,
  down: number,
  depth: number,
): MatMulTile => ({ through: 'workgroup', rows, columns, across, down, depth });

const softwareTiles = [registers(4, 4, 4, 4), registers(8, 8, 2, 4), registers(4, 8, 4, 4)];
const gpuTiles = [
  workgroup(4, 4, 16, 16, 16),
  workgroup(4, 4, 8, 8, 16),
  workgroup(8, 8, 8, 8, 16),
  workgroup(8, 8, 16, 8, 16),
  workgroup(8, 4, 16, 16, 8),
  registers(4, 4, 8, 8),
  registers(8, 8, 8, 8),
  registers(1, 4, 16, 4),
];

/** For shapes that waste every other tile, and where all others are refused. */
export const lastResort = registers(1, 4, 4, 4);

const none: ReadonlySet<string> = new Set();
const throughWorkgroup = (tile: MatMulTile): boolean => tile.through === 'workgroup';
const inHalf = (tile: MatMulTile): MatMulTile => ({ ...tile, half: true });

/**
 * The tiles worth trying here, the likeliest first.
 * @param refused keys of tiles that this device gets wrong.
 */
export function candidateTiles(
  problem: MatMulProblem,
  traits: DeviceTraits,
  refused: ReadonlySet<string> = none,
): MatMulTile[] {
  const fits = (tile: MatMulTile): boolean =>
    tile.across * tile.down <= traits.maxInvocations &&
    (tile.through === 'registers' ||
      4 * tile.depth * (tile.rows * tile.down + tile.columns * tile.across) <= traits.maxWorkgroupBytes);
  const waste = (tile: MatMulTile): number => {
    const padded = (length: number, unit: number): number => Math.ceil(length / unit) * unit;
    const [unitM, unitN] =
      tile.through === 'registers'
        ? [tile.rows, tile.columns]
        : [tile.rows * tile.down, tile.columns * tile.across];
    return (padded(problem.m, unitM) * padded(problem.n, unitN)) / (problem.m * problem.n);
  };
  const full = traits.software ? softwareTiles : gpuTiles;
  const halves = traits.f16 && traits.mixedPrecision ? full.filter(throughWorkgroup).map(inHalf) : [];
  const all = [...full, ...halves].filter((tile) => fits(tile) && !refused.has(tileKey(tile)));
  const useful = all.filter((tile) => waste(tile) <= 2);
  if (useful.length > 0) return useful;
  return [lastResort];
}

/** Large enough that a faster tile repays its longer compilation on a software adapter at once. */
const largeForSoftware = 2e8;
/** Invocations that keep a GPU busy. */
const busyInvocations = 16_384;

/** Without a measurement: big tiles where there is enough work to keep the device busy with them. */
export function likelyTile(
  problem: MatMulProblem,
  traits: DeviceTraits,
  refused: ReadonlySet<string> = none,
): MatMulTile {
  const candidates = candidateTiles(problem, traits, refused);
  const first = candidates[0] as MatMulTile;
  if (traits.software && matMulFlops(problem) < largeForSoftware) return first;
  const busy = traits.software
    ? candidates
    : candidates.filter((tile) => invocations(problem, tile) >= busyInvocations);
  const exact = busy.filter((tile) => !tile.half);
  const pool = exact.length > 0 ? exact : [mostInvocations(problem, candidates)];
  return pool.reduce((best, tile) => (tile.rows * tile.columns > best.rows * best.columns ? tile : best));
}

function invocations(problem: MatMulProblem, tile: MatMulTile): number {
  return (problem.batch * problem.m * problem.n) / (tile.rows * tile.columns);
}

function mostInvocations(problem: MatMulProblem, tiles: MatMulTile[]): MatMulTile {
  return tiles.reduce((best, tile) =>
    invocations(problem, tile) > invocations(problem, best) ? tile : best,
  );
}
