/**
 * Placement of layer ranges on Helix's clusters, against other placements and upper bounds:
 * `node scripts/run.mjs bench/scheduler/helix.ts [--milp SECONDS]`. Prints tables, writes
 * bench/results/scheduler-helix.json. With --milp, HiGHS also works on Helix's program for so long per cluster.
 *
 * Throughput is the maximum flow of the placement in tokens/s, with the rates that Helix's own planner uses. It is what
 * the placement allows; what a server then decodes is less, and depends on batches and caches.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { flowBound, refinedBound } from '../../packages/scheduler/src/plan/flow/bound.ts';
import { geoClusters, mixedCluster, singleCluster } from '../../packages/scheduler/src/plan/flow/clusters.ts';
import type { Cluster } from '../../packages/scheduler/src/plan/flow/clusters.ts';
import type { FlowProblem, Placement } from '../../packages/scheduler/src/plan/flow/flow-problem.ts';
import { placementFlow } from '../../packages/scheduler/src/plan/flow/graph.ts';
import { placeRanges } from '../../packages/scheduler/src/plan/flow/placement.ts';
import {
  equalStages,
  petalsPlacement,
  separatePipelines,
} from '../../packages/scheduler/src/plan/flow/seeds.ts';
import { beyondChains } from '../../packages/scheduler/src/plan/flow/testing/chain-limit.ts';
import { coverBound } from '../../packages/scheduler/src/plan/flow/testing/cover-bound.ts';
import { helixProgram } from '../../packages/scheduler/src/plan/flow/testing/helix-milp.ts';
import { loadSolver } from '../../packages/scheduler/src/plan/flow/testing/highs.ts';
import { worldFlow } from '../../packages/scheduler/src/plan/flow/world-flow.ts';
import { Random } from '../../packages/shared/src/index.ts';
import { inRoot } from '../../scripts/workspace/paths.mjs';
import { padded } from '../kernels/table.ts';

interface Row {
  cluster: string;
  contender: string;
  /** Tokens/s; the median over seeds where there are several. */
  throughput: number;
  least: number;
  most: number;
  milliseconds: number | null;
}

interface ScaleRow {
  devices: number;
  layers: number;
  throughput: number;
  bound: number;
  milliseconds: number;
}

const ours = 'Tabweave';
const base = "Helix's MILP, published";
const seeds = 5;
const evaluations = 1_000_000;

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

function timed<T>(run: () => T): { value: T; milliseconds: number } {
  const start = performance.now();
  const value = run();
  return { value, milliseconds: performance.now() - start };
}

function over(
  cluster: string,
  contender: string,
  runs: readonly { value: number; milliseconds: number }[],
): Row {
  const flows = runs.map(({ value }) => value);
  return {
    cluster,
    contender,
    throughput: median(flows),
    least: Math.min(...flows),
    most: Math.max(...flows),
    milliseconds: median(runs.map(({ milliseconds }) => milliseconds)),
  };
}

function published({ published: { placement } }: Cluster): Placement | null {
  if (placement === null) return null;
  return {
    from: Int32Array.from(placement, ([from]) => from),
    to: Int32Array.from(placement, ([, to]) => to),
  };
}

type Solve = Awaited<ReturnType<typeof loadSolver>>;

function measureCluster(cluster: Cluster, solve: Solve, milpSeconds: number): Row[] {
  const { problem, name, types } = cluster;
  const flow = (placement: Placement): number => placementFlow(problem, placement).throughput;
  const rows: Row[] = [];
  const one = (contender: string, value: number, milliseconds: number | null): void => {
    rows.push({ cluster: name, contender, throughput: value, least: value, most: value, milliseconds });
  };
  const helix = published(cluster);
  if (helix !== null) one(base, flow(helix), null);
  const random = Array.from({ length: seeds }, (_, seed) => new Random(seed));
  rows.push(
    over(
      name,
      ours,
      random.map((source) => timed(() => placeRanges(problem, { evaluations, random: source }).throughput)),
    ),
  );
  const best = rows.at(-1)!.most;
  rows.push(
    over(
      name,
      'Petals',
      Array.from({ length: 21 }, (_, seed) => timed(() => flow(petalsPlacement(problem, new Random(seed))))),
    ),
  );
  const swarm = timed(() => flow(equalStages(problem, cluster.published.swarmStages)));
  one(`SWARM, ${cluster.published.swarmStages} equal stages`, swarm.value, swarm.milliseconds);
  const separate = timed(() =>
    separatePipelines(problem, types).reduce((sum, placement) => sum + flow(placement), 0),
  );
  one('separate pipelines', separate.value, separate.milliseconds);
  if (milpSeconds > 0) {
    const solved = timed(() => solve(helixProgram(problem), milpSeconds));
    one(`Helix's MILP, HiGHS ${solved.value.status}`, solved.value.objective, solved.milliseconds);
  }
  const whole = timed(() => coverBound(problem, solve, { lower: best }));
  one('bound, whole layers', Math.min(whole.value, flowBound(problem)), whole.milliseconds);
  const justAbove = 1.001 * best;
  const links = timed(() => beyondChains(problem, justAbove));
  if (links.value && justAbove < whole.value) one('bound, links too', justAbove, links.milliseconds);
  const capped = timed(() => flowBound(problem));
  one('bound, capped sum', capped.value, capped.milliseconds);
  return rows;
}

/** Tabs on home connections: log-normal speeds and up-links, a model of 96 equal blocks that fits none of them. */
function homeWorld(devices: number): FlowProblem {
  const random = new Random(devices);
  const layer = {
    name: 'block',
    parameters: 7e6,
    forwardFlops: 15e9,
    activationBytes: 30e6,
    boundaryBytes: 3e6,
  };
  const layers = Array.from({ length: 96 }, () => layer);
  const room = devices < 32 ? 8e9 : 5e8;
  const fleet = Array.from({ length: devices }, (_, d) => ({
    id: `d${d}`,
    rate: 1e11 * Math.exp(random.normal()),
    fixedSeconds: 0.01,
    memoryBytes: room * (1 + 3 * random.uniform()),
    hazard: 0,
    site: `s${d % 10}`,
  }));
  const up = fleet.map(() => 1e6 * Math.exp(1 + random.normal()));
  const link = (bytesPerSecond: number): { latencySeconds: number; bytesPerSecond: number } => ({
    latencySeconds: 0.03,
    bytesPerSecond,
  });
  return worldFlow({
    workload: { layers, globalBatch: 512, boundaryScale: 0.5, gradientScale: 0.5, parameterScale: 0.5 },
    devices: fleet,
    network: {
      between: (d, e) => link(Math.min(up[d]!, 3 * up[e]!)),
      up: (d) => link(up[d]!),
      down: (d) => link(3 * up[d]!),
    },
    microBatch: 1,
  });
}

function measureScale(devices: number): ScaleRow {
  const problem = homeWorld(devices);
  const { value, milliseconds } = timed(() => placeRanges(problem, { evaluations, random: new Random(1) }));
  const bound = Math.min(value.bound, refinedBound(problem, devices > 500 ? 100 : 400, value.bound));
  return { devices, layers: problem.layers, throughput: value.throughput, bound, milliseconds };
}

function clusterTable(rows: readonly Row[]): string {
  const percent = (part: number, whole: number | undefined): string =>
    whole === undefined || part === 0 ? '' : `${((100 * part) / whole).toFixed(1)} %`;
  return padded({
    head: ['cluster', 'contender', 'tokens/s', 'range', 'of bound', 'x Helix', 'x SWARM', 'ms'],
    rows: rows.map((row, index) => {
      const of = (contender: string): number | undefined =>
        rows.find((other) => other.cluster === row.cluster && other.contender.startsWith(contender))
          ?.throughput;
      const times = (contender: string): string => {
        const reference = of(contender);
        return reference === undefined || row.throughput === 0 ? '' : (row.throughput / reference).toFixed(2);
      };
      return [
        rows[index - 1]?.cluster === row.cluster ? '' : row.cluster,
        row.contender,
        row.throughput === 0 ? 'no room' : row.throughput.toFixed(0),
        row.most > row.least ? `${row.least.toFixed(0)}-${row.most.toFixed(0)}` : '',
        percent(row.throughput, of('bound, links') ?? of('bound, whole')),
        times(base),
        times('SWARM'),
        row.milliseconds === null ? '' : row.milliseconds.toFixed(row.milliseconds < 10 ? 1 : 0),
      ];
    }),
  });
}

/** What Helix publishes as decode tokens/s, next to the flows here: ratios only are comparable. */
function claimTable(clusters: readonly Cluster[], rows: readonly Row[]): string {
  const flowOf = (cluster: Cluster, contender: string): number =>
    rows.find((row) => row.cluster === cluster.name && row.contender.startsWith(contender))?.throughput ?? 0;
  const ratio = (part: number, whole: number): string =>
    part > 0 && whole > 0 ? (part / whole).toFixed(2) : '';
  return padded({
    head: ['cluster', 'ratio', 'published', 'here, flow'],
    rows: clusters.flatMap((cluster) => {
      const { decode } = cluster.published;
      if (decode === null || cluster.published.placement === null) return [];
      const helix = flowOf(cluster, base);
      const petals = { '70B single': 194.5 / 230.8, '70B geo': 66.6 / 98 }[cluster.name];
      return [
        [
          cluster.name,
          'Helix / SWARM',
          ratio(decode.helix, decode.swarm),
          ratio(helix, flowOf(cluster, 'SWARM')),
        ],
        [
          '',
          'Helix / separate',
          ratio(decode.helix, decode.separate),
          ratio(helix, flowOf(cluster, 'separate')) || 'no room',
        ],
        ['', 'Petals / Helix', petals?.toFixed(2) ?? '', ratio(flowOf(cluster, 'Petals'), helix)],
      ];
    }),
  });
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { milp: { type: 'string', default: '0' } } });
  const milpSeconds = Number(values.milp);
  if (!(milpSeconds >= 0)) throw new RangeError(`--milp ${values.milp}: seconds, 0 or more`);
  const solve = await loadSolver();
  const clusters = [
    singleCluster('70B'),
    singleCluster('30B'),
    geoClusters('70B'),
    geoClusters('30B'),
    mixedCluster(),
  ];
  // Once, so that the first row is not of cold code.
  placeRanges(clusters[0]!.problem, { evaluations, random: new Random(0) });
  const rows = clusters.flatMap((cluster) => measureCluster(cluster, solve, milpSeconds));
  console.log(clusterTable(rows));
  console.log(
    `\nRatios that Helix publishes (its simulator, decoding offline) and those of the flows here\n`,
  );
  console.log(claimTable(clusters, rows));
  const scale = [8, 64, 256, 1000].map(measureScale);
  console.log('\nTraining of 96 layers on tabs with home connections\n');
  console.log(
    padded({
      head: ['devices', 'layers', 'micro-batches/s', 'of bound', 'ms'],
      rows: scale.map(({ devices, layers, throughput, bound, milliseconds }) => [
        String(devices),
        String(layers),
        throughput.toFixed(3),
        `${((100 * throughput) / bound).toFixed(1)} %`,
        milliseconds.toFixed(0),
      ]),
    }),
  );
  const path = inRoot('bench/results/scheduler-helix.json');
  mkdirSync(inRoot('bench/results'), { recursive: true });
  writeFileSync(
    path,
    `${JSON.stringify(
      {
        at: new Date().toISOString(),
        machine: {
          processor: cpus()[0]?.model ?? 'unknown',
          cores: availableParallelism(),
          platform: `${process.platform} ${process.arch}`,
        },
        evaluations,
        seeds,
        clusters: rows,
        published: clusters.map(({ name, published: { decode } }) => ({ name, decode })),
        scale,
      },
      null,
      2,
    )}\n`,
  );
}

await main();
