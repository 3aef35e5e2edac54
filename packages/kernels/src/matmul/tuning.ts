/**
 * Which tile a product takes on this device: measured once for each shape, remembered, and until then the likely one.
 * The measurement is what an operation would see: several runs in one submit, after one to warm up.
 */
import { KernelCompilationError, type KernelRuntime } from '../kernel/runtime.ts';
import { grid, type Kernel } from '../kernel/kernel.ts';
import { candidateTiles, likelyTile, matMulKernel } from './matmul.ts';
import { matMulFlops, problemKey, tileKey, type MatMulProblem, type MatMulTile } from './problem.ts';

/** Tiles by shape, as plain data: to be kept from visit to visit, by device. */
export type TileChoices = Record<string, string>;

interface Tuning {
  readonly chosen: Map<string, MatMulTile>;
  /** Asked for and not measured yet. */
  readonly pending: Map<string, MatMulProblem>;
  remembered: TileChoices;
  /** Keys of tiles that this device gets wrong. */
  readonly refused: Set<string>;
}

const tunings = new WeakMap<KernelRuntime, Tuning>();

function tuningOf(runtime: KernelRuntime): Tuning {
  let tuning = tunings.get(runtime);
  if (!tuning) {
    tuning = { chosen: new Map(), pending: new Map(), remembered: {}, refused: new Set() };
    tunings.set(runtime, tuning);
  }
  return tuning;
}

/** What decides the speed; bias and the like hardly do. */
function bare(problem: MatMulProblem): MatMulProblem {
  const { batch, m, n, k, transposeA, transposeB, sharedA, sharedB } = problem;
  return {
    batch,
    m,
    n,
    k,
    transposeA,
    transposeB,
    sharedA: sharedA ?? false,
    sharedB: sharedB ?? false,
  };
}

export function tileFor(runtime: KernelRuntime, problem: MatMulProblem): MatMulTile {
  const tuning = tuningOf(runtime);
  const shape = bare(problem);
  const key = problemKey(shape);
  const chosen = tuning.chosen.get(key);
  if (chosen) return chosen;
  const wanted = tuning.remembered[key];
  const remembered = candidateTiles(shape, runtime.traits, tuning.refused).find(
    (tile) => tileKey(tile) === wanted,
  );
  if (remembered) {
    tuning.chosen.set(key, remembered);
    return remembered;
  }
  tuning.pending.set(key, shape);
  return likelyTile(shape, runtime.traits, tuning.refused);
}

/** Never takes this tile again on this device. */
export function refuseTile(runtime: KernelRuntime, tile: MatMulTile): void {
  const tuning = tuningOf(runtime);
  tuning.refused.add(tileKey(tile));
  for (const [key, chosen] of tuning.chosen) if (tileKey(chosen) === tileKey(tile)) tuning.chosen.delete(key);
}

/** What has been measured so far, as plain data: to be kept from visit to visit, by device. */
export function tileChoices(runtime: KernelRuntime): TileChoices {
  const { remembered, chosen } = tuningOf(runtime);
  return {
    ...remembered,
    ...Object.fromEntries([...chosen].map(([key, tile]) => [key, tileKey(tile)])),
  };
}

/** Takes up what an earlier visit measured; a tile that is no candidate any more is passed over. */
export function rememberTiles(runtime: KernelRuntime, choices: TileChoices): void {
  tuningOf(runtime).remembered = choices;
}

/**
 * Measures the products asked for and not measured yet, those with the most work first, until `budget` milliseconds
 * are spent. @returns whether some choice differs from the likely one.
 */
export async function tuneTiles(runtime: KernelRuntime, budget: number): Promise<boolean> {
  const tuning = tuningOf(runtime);
  const end = performance.now() + budget;
  let changed = false;
  const problems = [...tuning.pending.values()].sort((a, b) => matMulFlops(b) - matMulFlops(a));
  for (const problem of problems) {
    if (performance.now() >= end) break;
    const best = await fastestTile(runtime, problem, end);
    if (!best) break;
    const key = problemKey(problem);
    tuning.pending.delete(key);
    tuning.chosen.set(key, best);
    changed ||= tileKey(best) !== tileKey(likelyTile(problem, runtime.traits, tuning.refused));
  }
  return changed;
}

/** Null where the time is up before two tiles could be compared. */
async function fastestTile(
  runtime: KernelRuntime,
  problem: MatMulProblem,
  end: number,
): Promise<MatMulTile | null> {
  const { refused } = tuningOf(runtime);
  const likely = likelyTile(problem, runtime.traits, refused);
  const others = candidateTiles(problem, runtime.traits, refused).filter(
    (tile) => tileKey(tile) !== tileKey(likely),
  );
  const { batch, m, n, k } = problem;
  const sizes = [(problem.sharedA ? 1 : batch) * m * k, (problem.sharedB ? 1 : batch) * n * k, batch * m * n];
  if (sizes.some((size) => 4 * size > runtime.traits.maxBindingBytes)) return likely;
  const buffers = sizes.map((size) =>
    runtime.device.createBuffer({ size: 4 * size, usage: GPUBufferUsage.STORAGE }),
  );
  try {
    let best: MatMulTile | null = null;
    let bestTime = Infinity;
    for (const [tried, tile] of [likely, ...others].entries()) {
      if (performance.now() >= end) return tried > 1 ? best : null;
      const kernel = matMulKernel(problem, tile, runtime.traits);
      const time = await timeKernel(runtime, kernel, buffers).catch(ifRefused);
      if (time < bestTime) [best, bestTime] = [tile, time];
    }
    return best;
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}

/** A tile that does not compile here is never the fastest. */
function ifRefused(error: unknown): number {
  if (error instanceof KernelCompilationError) return Infinity;
  throw error;
}

/** Long enough to be seen above the cost of a submit. */
const measuredMilliseconds = 3;

/** Milliseconds of one run, the better of two measurements. Of long runs only a part is run: a slow tile must not hold up the device. */
async function timeKernel(
  runtime: KernelRuntime,
  kernel: Kernel,
  buffers: readonly GPUBuffer[],
): Promise<number> {
  const { device } = runtime;
  const pipeline = await runtime.prepare(kernel);
  const bindGroup = device.createBindGroup({
    layout: runtime.layout(kernel),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const share = Math.min(1, runtime.pacing.flopsPerSubmit / 8 / kernel.flops);
  const workgroups = Math.max(1, Math.floor(share * kernel.workgroups));
  const once = async (runs: number): Promise<number> => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.setBindGroup(1, share < 1 ? runtime.span(kernel, 0, workgroups) : runtime.span(kernel));
    for (let run = 0; run < runs; run++) pass.dispatchWorkgroups(...grid(workgroups));
    pass.end();
    const began = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return ((performance.now() - began) / runs) * (kernel.workgroups / workgroups);
  };
  const first = await once(1);
  const runs = Math.max(1, Math.min(50, Math.round(measuredMilliseconds / (first * share))));
  return Math.min(await once(runs), await once(runs));
}
