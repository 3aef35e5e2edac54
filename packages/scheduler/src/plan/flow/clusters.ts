/**
 * The clusters of Helix (ASPLOS'25): rates are those of its own placement models, in tokens per second with k layers
 * on the machine (measured there on vLLM at a typical batch; its artefact, ilp_model.lp, constraints
 * node_throughput). Half of the memory holds layers, which limits k. Rates of LLaMA 70B differ between the clusters
 * because the typical batch depends on the fleet. Those of LLaMA 30B are of the fleets of one machine type each, the
 * only ones that it publishes.
 */
import { Random } from '@tabweave/shared';
import type { FlowProblem } from './flow-problem.ts';

/** rates[k - 1] in tokens/s with k layers. */
type Profile = readonly number[];

const llama70On24: Record<string, Profile> = {
  A100: [
    23833.87, 11384.25, 7201.412, 5264.623, 4096.655, 3124.143, 2595.679, 2045.641, 1754.382, 1392.635,
    1212.177, 952.1074,
  ],
  L4: [7557.863, 3625.715, 2171.878, 1476.085, 1017.573, 747.7854, 531.7026],
  T4: [5709.208, 2434.367, 1347.867, 757.8532],
};

const llama70On42: Record<string, Profile> = {
  A100: [
    31327.49, 15363.28, 9918.068, 7039.205, 5430.024, 4251.277, 3405.791, 2847.019, 2339.853, 1931.107,
    1652.856, 1363.712,
  ],
  V100: [14014.13, 5890.151, 3342.478, 1982.192],
  L4: [9111.476, 4239.099, 2563.309, 1812.259, 1285.166, 916.8084, 655.7303],
  L4x2: [
    17269.02, 8426.917, 5441.144, 3929.416, 3061.016, 2461.63, 2030.419, 1712.858, 1450.183, 1290.529,
    1107.22, 964.2587, 838.5092, 727.6868,
  ],
  T4: [6179.854, 2911.518, 1622.365, 927.6237],
  T4x2: [12194.22, 5813.735, 3663.688, 2706.1, 2121.354, 1626.957, 1271.797, 1021.913, 783.4519],
  T4x4: [
    20503.53, 10085.51, 6640.707, 4892.242, 3841.238, 3136.813, 2651.224, 2268.505, 1981.141, 1738.634,
    1548.734, 1388.975, 1281.524, 1180.025, 1071.187, 973.6391, 872.895, 781.2661,
  ],
};

const llama30: Record<string, Profile> = {
  A100: [
    24422.68, 11751.67, 7569.127, 5481.217, 4380.946, 3525.199, 3021.84, 2535.882, 2158.991, 1942.715,
    1678.975, 1462.934, 1349.65, 1185.805, 1044.533, 912.9872, 802.564, 758.1086,
  ],
  L4: [
    2678.282, 1339.634, 828.492, 572.5387, 458.1705, 320.6809, 275.0183, 214.9814, 168.095, 252.6498,
    193.3135,
  ],
  T4: [1803.998, 808.4989, 539.0155, 356.672, 397.6851, 331.3734, 230.9919],
};

export interface Cluster {
  name: string;
  problem: FlowProblem;
  /** Machine type of device d. */
  types: readonly string[];
  /** Region of device d. */
  regions: readonly number[];
  /** What Helix publishes for this cluster. */
  published: {
    /** Its MILP's placement, as [from, to) of device d; null where it publishes none. */
    placement: readonly (readonly [number, number])[] | null;
    /** Decode tokens/s in its simulator, offline: Helix, SWARM, separate pipelines. */
    decode: { helix: number; swarm: number; separate: number } | null;
    /** Equal stages that its SWARM baseline has. */
    swarmStages: number;
  };
}

interface Fleet {
  name: string;
  profiles: Record<string, Profile>;
  layers: number;
  /** Bytes of one token's activation: hidden size in float16. */
  activationBytes: number;
  types: readonly string[];
  regions: readonly number[];
  /** Bytes per second between devices d and e, both ways alike; null is the server. */
  bandwidth: (d: number | null, e: number | null) => number;
  published: Cluster['published'];
}

const nicBytesPerSecond = 10e9;
const tokenBytes = 2;

function cluster({
  name,
  profiles,
  layers,
  activationBytes,
  types,
  regions,
  bandwidth,
  published,
}: Fleet): Cluster {
  const table = types.map((type) =>
    profiles[type]!.map((rate) => Math.min(rate, nicBytesPerSecond / activationBytes)),
  );
  const problem: FlowProblem = {
    layers,
    devices: types.length,
    rate: (device, from, to) => table[device]![to - from - 1] ?? 0,
    reach: (device, from) => Math.min(layers, from + table[device]!.length),
    link: (d, e) => bandwidth(d, e) / activationBytes,
    source: (device) => bandwidth(null, device) / tokenBytes,
    sink: (device) => bandwidth(device, null) / tokenBytes,
  };
  return { name, problem, types, regions, published };
}

function repeated(counts: readonly (readonly [string, number])[]): string[] {
  return counts.flatMap(([type, count]) => Array.from({ length: count }, () => type));
}

const llama70 = { layers: 80, activationBytes: 2 * 8192 };
const llama30Shape = { layers: 60, activationBytes: 2 * 6656 };

/** The order of machines in its files, so that its published placements fit. */
const singleTypes = 'L4 T4 T4 L4 T4 L4 A100 T4 T4 A100 A100 L4 T4 T4 L4 T4 T4 A100 L4 T4 T4 L4 T4 L4'.split(
  ' ',
);
const mixedTypes =
  `T4 L4x2 L4 V100 T4x4 L4x2 L4 V100 A100 T4x2 T4 T4x2 V100 T4 V100 L4 T4 T4x2 L4 T4 L4x2 A100 T4x2 L4 T4x2 T4 V100 T4x4
  L4 T4 T4 T4x4 L4x2 T4x4 T4x2 A100 T4 L4 V100 L4 A100 T4`.split(/\s+/);

/** 4 A100, 8 L4, 12 T4 at 10 Gb/s and 1 ms. */
export function singleCluster(model: '70B' | '30B'): Cluster {
  return cluster({
    name: `${model} single`,
    ...(model === '70B' ? llama70 : llama30Shape),
    profiles: model === '70B' ? llama70On24 : llama30,
    types: singleTypes,
    regions: singleTypes.map(() => 0),
    bandwidth: () => 1.25e9,
    published: {
      placement: model === '70B' ? singlePlacement : null,
      decode:
        model === '70B'
          ? { helix: 252.1, swarm: 124.7, separate: 124.3 }
          : { helix: 339.6, swarm: 151.6, separate: 309 },
      swarmStages: model === '70B' ? 20 : 10,
    },
  });
}

/**
 * The same machines in three regions: 4 A100; 2 L4 and 8 T4; 6 L4 and 4 T4. Within a region 10 +- 1 Gb/s; across,
 * and to the server, 100 +- 20 Mb/s, drawn uniformly per pair (Helix draws the same way; these are not its draws).
 */
export function geoClusters(model: '70B' | '30B', seed = 0): Cluster {
  const types = repeated([
    ['A100', 4],
    ['L4', 2],
    ['T4', 8],
    ['L4', 6],
    ['T4', 4],
  ]);
  const regions = types.map((_, device) => (device < 4 ? 0 : device < 14 ? 1 : 2));
  const random = new Random(seed);
  const table = Array.from({ length: types.length + 1 }, () => new Float64Array(types.length + 1));
  for (let d = 0; d <= types.length; d++)
    for (let e = d + 1; e <= types.length; e++) {
      const within = regions[d] === regions[e];
      const share = 2 * random.uniform() - 1;
      table[d]![e] = table[e]![d] = within ? 1.25e9 + share * 125e6 : 12.5e6 + share * 2.5e6;
    }
  return cluster({
    name: `${model} geo`,
    ...(model === '70B' ? llama70 : llama30Shape),
    profiles: model === '70B' ? llama70On24 : llama30,
    types,
    regions,
    bandwidth: (d, e) => table[d ?? types.length]![e ?? types.length]!,
    published: {
      placement: model === '70B' ? geoPlacement : null,
      decode: model === '70B' ? { helix: 98, swarm: 51.9, separate: 61.9 } : null,
      swarmStages: model === '70B' ? 20 : 10,
    },
  });
}

/** 4 A100, 6 V100, 8 L4, 4 of two L4, 10 T4, 6 of two T4, 4 of four T4, at 8 Gb/s and 1 ms. */
export function mixedCluster(): Cluster {
  return cluster({
    name: '70B 42-node',
    ...llama70,
    profiles: llama70On42,
    types: mixedTypes,
    regions: mixedTypes.map(() => 0),
    bandwidth: () => 1e9,
    published: {
      placement: mixedPlacement,
      decode: { helix: 645.6, swarm: 473.2, separate: 285.1 },
      swarmStages: 20,
    },
  });
}

// Helix's own placements: first and last layer of device d, in its artefact's ilp_sol.ini.
const singlePlacement =
  ranges(`7-10 34-37 23-25 53-59 77-79 53-59 68-76 26-29 30-33 37-48 60-67 42-48 33-36 38-41 3-6
  0-2 11-13 14-22 46-52 42-45 7-7 53-59 49-52 26-32`);
const geoPlacement =
  ranges(`59-69 70-79 48-58 37-47 19-25 26-31 15-18 26-29 32-32 5-5 18-21 7-7 76-78 33-36 1-6 7-10
  1-7 30-36 8-14 0-0 22-25 11-13 14-17 75-75`);
const mixedPlacement =
  ranges(`27-30 19-28 45-47 56-58 29-40 9-18 66-68 13-15 19-26 60-62 9-12 48-55 27-30 41-44 16-18
  59-59 63-65 48-55 39-44 12-12 69-76 2-7 69-76 1-7 59-65 9-12 9-12 39-55 2-2 41-44 79-79 63-76 39-44 63-79 69-76
  49-59 77-78 0-1 45-48 8-8 31-38 77-79`);

function ranges(text: string): [number, number][] {
  return text.split(/\s+/).map((range) => {
    const [first, last] = range.split('-').map(Number) as [number, number];
    return [first, last + 1];
  });
}
