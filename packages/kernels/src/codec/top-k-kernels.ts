/**
 * The k largest magnitudes of a vector, exactly, as a radix select on the bits of the floats: a magnitude's bits sort
 * as it does. Four rounds settle a byte each of the k-th largest bit pattern, by a histogram of that byte among what
 * agrees with the bytes settled before. Then what lies above it is collected in order, and of what equals it as much as
 * is missing, lowest index first. Counts are integers, so that atomics leave the result the same in any order.
 *
 * State, int32 [2]: the bits settled, and how many values that agree with them are still to be taken.
 */
import { type DeviceTraits, type Kernel, shader } from '../kernel/kernel.ts';
import { quadArray, quadLoad, quads } from './quads.ts';

export const bins = 256;
export const stateSize = 2;
const lanes = 256;
/** Values that one workgroup (on software adapters, one invocation) collects. */
export const chunkSize = 4096;
const [chunkQuads, laneQuads] = [chunkSize / 4, chunkSize / 4 / lanes];
const softwareLanes = 4;

export function chunks(size: number): number {
  return Math.ceil(size / chunkSize);
}

function magnitudes(size: number): string {
  return quadLoad('bits4', 'vector', size, 'u32');
}

/** Sets the state for `k`, and the histogram to zero. */
export function startKernel(k: number): Kernel {
  return {
    name: 'top-k',
    key: `top-k start ${k}`,
    inputs: 0,
    outputs: 2,
    workgroups: 1,
    flops: bins,
    wgsl: () =>
      shader({
        inputs: [],
        outputs: ['state : array<u32>', 'histogram : array<u32>'],
        workgroupSize: 64,
        workgroups: 1,
        body: `  for (var bin = local; bin < ${bins}u; bin += 64u) { histogram[bin] = 0u; }
  if (local == 0u) {
    state[0] = 0u;
    state[1] = ${k}u;
  }`,
      }),
  };
}

/** vector [size], state -> histogram [bins] of byte `byte` (3 is the first to be settled). */
export function histogramKernel(size: number, byte: number, traits: DeviceTraits): Kernel {
  const { software } = traits;
  const run = software ? 64 : 8;
  const workgroupSize = software ? softwareLanes : lanes;
  const workgroups = Math.ceil(quads(size) / (workgroupSize * run));
  // All bits above the byte, and for the first byte none; the sign is left out throughout.
  const [shift, settled] = [8 * byte, byte === 3 ? 0 : (0xffff_ffff << (8 * byte + 8)) >>> 0];
  const target = software ? 'histogram' : 'counts';
  return {
    name: 'top-k',
    key: `top-k histogram ${size} ${byte} ${software}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: 8 * size,
    wgsl: () =>
      shader({
        inputs: [`vector : ${quadArray(size, 'u32')}`, 'state : array<u32>'],
        outputs: ['histogram : array<atomic<u32>>'],
        workgroupSize,
        workgroups,
        declarations: `${magnitudes(size)}${
          software ? '' : `var<workgroup> counts : array<atomic<u32>, ${bins}>;\n`
        }
fn add(bin : u32, count : u32) {
  if (count > 0u) { atomicAdd(&${target}[bin], count); }
}`,
        body: `  let known = state[0];
  // Neighbours mostly share their first bytes: one addition for as many in a row.
  var bin = 0u;
  var row = 0u;
  for (var step = 0u; step < ${run}u; step++) {
    let quad = (group * ${run}u + step) * ${workgroupSize}u + local;
    if (quad >= ${quads(size)}u) { break; }
    let bits = bits4(quad);
    let inside = min(4u, ${size}u - quad * 4u);
    for (var lane = 0u; lane < inside; lane++) {
      let magnitude = bits[lane] & 0x7fffffffu;
      if ((magnitude & ${settled}u) != known) { continue; }
      let next = (magnitude >> ${shift}u) & 0xffu;
      if (next != bin) {
        add(bin, row);
        bin = next;
        row = 0u;
      }
      row++;
    }
  }
  add(bin, row);
${
  software
    ? ''
    : `  workgroupBarrier();
  let counted = atomicLoad(&counts[local]);
  if (counted > 0u) { atomicAdd(&histogram[local], counted); }`
}`,
      }),
  };
}

/** Settles byte `byte` in the state by the histogram, which is set to zero for the next one. */
export function settleKernel(byte: number, { software }: DeviceTraits): Kernel {
  const shift = 8 * byte;
  const [workgroupSize, counts] = software ? [1, 'histogram'] : [bins, 'counts'];
  return {
    name: 'top-k',
    key: `top-k settle ${byte} ${software}`,
    inputs: 0,
    outputs: 2,
    workgroups: 1,
    flops: 2 * bins,
    wgsl: () =>
      shader({
        inputs: [],
        outputs: ['state : array<u32>', 'histogram : array<u32>'],
        workgroupSize,
        workgroups: 1,
        declarations: software ? '' : `var<workgroup> counts : array<u32, ${bins}>;`,
        body: `${
          software
            ? ''
            : `  counts[local] = histogram[local];
  histogram[local] = 0u;
  workgroupBarrier();
`
        }  if (local == 0u) {
    var missing = state[1];
    var bin = ${bins - 1}u;
    while (bin > 0u && ${counts}[bin] < missing) {
      missing -= ${counts}[bin];
      bin--;
    }
    state[0] |= bin << ${shift}u;
    state[1] = missing;
${software ? `    for (var i = 0u; i < ${bins}u; i++) { histogram[i] = 0u; }\n` : ''}  }`,
      }),
  };
}

const classes = `
// Above the k-th largest pattern, and equal to it.
fn tally4(bits : vec4<u32>, threshold : u32, inside : u32) -> vec2<u32> {
  let sizes = bits & vec4<u32>(0x7fffffffu);
  let valid = vec4<u32>(vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(inside));
  let above = vec4<u32>(sizes > vec4<u32>(threshold)) * valid;
  let equal = vec4<u32>(sizes == vec4<u32>(threshold)) * valid;
  return vec2<u32>(above.x + above.y + above.z + above.w, equal.x + equal.y + equal.z + equal.w);
}
`;

/** Start and end of the quads that an invocation walks through in order. */
function invocationQuads(size: number, software: boolean): string {
  return software
    ? `  let chunk = group * ${softwareLanes}u + local;
  if (chunk >= ${chunks(size)}u) { return; }
  let start = chunk * ${chunkQuads}u;
  let end = min(start + ${chunkQuads}u, ${quads(size)}u);`
    : `  let chunk = group;
  let start = (chunk * ${lanes}u + local) * ${laneQuads}u;
  let end = min(start + ${laneQuads}u, ${quads(size)}u);`;
}

function tallied(size: number): string {
  return `  var found = vec2<u32>();
  for (var quad = start; quad < end; quad++) {
    found += tally4(bits4(quad), threshold, ${size}u - quad * 4u);
  }`;
}

function chunkGrid(size: number, software: boolean): { workgroupSize: number; workgroups: number } {
  return software
    ? { workgroupSize: softwareLanes, workgroups: Math.ceil(chunks(size) / softwareLanes) }
    : { workgroupSize: lanes, workgroups: chunks(size) };
}

/** vector [size], state -> [chunks, 2]: how many values of each chunk lie above the threshold, and equal it. */
export function tallyKernel(size: number, { software }: DeviceTraits): Kernel {
  const grid = chunkGrid(size, software);
  return {
    name: 'top-k',
    key: `top-k tally ${size} ${software}`,
    inputs: 2,
    outputs: 1,
    workgroups: grid.workgroups,
    flops: 6 * size,
    wgsl: () =>
      shader({
        inputs: [`vector : ${quadArray(size, 'u32')}`, 'state : array<u32>'],
        outputs: ['tallies : array<vec2<u32>>'],
        ...grid,
        declarations: `${magnitudes(size)}${classes}${
          software ? '' : 'var<workgroup> above : atomic<u32>;\nvar<workgroup> equal : atomic<u32>;\n'
        }`,
        body: `${invocationQuads(size, software)}
  let threshold = state[0];
${tallied(size)}
${
  software
    ? '  tallies[chunk] = found;'
    : `  atomicAdd(&above, found.x);
  atomicAdd(&equal, found.y);
  workgroupBarrier();
  if (local == 0u) { tallies[chunk] = vec2<u32>(atomicLoad(&above), atomicLoad(&equal)); }`
}`,
      }),
  };
}

/** Sums in place over all lower lanes: `found` becomes what comes before this lane. */
const exclusiveScan = `  scan[local] = found;
  workgroupBarrier();
  for (var reach = 1u; reach < ${lanes}u; reach *= 2u) {
    var lower = vec2<u32>();
    if (local >= reach) { lower = scan[local - reach]; }
    workgroupBarrier();
    scan[local] += lower;
    workgroupBarrier();
  }
  var before = scan[local] - found;`;

/** [chunks, 2] in place: from the tallies of the chunks to the sums of all chunks before. */
export function scanKernel(size: number, { software }: DeviceTraits): Kernel {
  const count = chunks(size);
  const run = Math.ceil(count / lanes);
  return {
    name: 'top-k',
    key: `top-k scan ${count} ${software}`,
    inputs: 0,
    outputs: 1,
    workgroups: 1,
    flops: 4 * count,
    wgsl: () =>
      shader({
        inputs: [],
        outputs: ['tallies : array<vec2<u32>>'],
        workgroupSize: software ? 1 : lanes,
        workgroups: 1,
        declarations: software ? '' : `var<workgroup> scan : array<vec2<u32>, ${lanes}>;`,
        body: `${
          software
            ? `  let start = 0u;
  let end = ${count}u;
  var before = vec2<u32>();`
            : `  let start = min(local * ${run}u, ${count}u);
  let end = min(start + ${run}u, ${count}u);
  var found = vec2<u32>();
  for (var chunk = start; chunk < end; chunk++) { found += tallies[chunk]; }
${exclusiveScan}`
        }
  for (var chunk = start; chunk < end; chunk++) {
    let own = tallies[chunk];
    tallies[chunk] = before;
    before += own;
  }`,
      }),
  };
}

/** vector [size], state, sums before each chunk -> indices int32 [k], ascending, and their values [k]. */
export function collectKernel(size: number, k: number, { software }: DeviceTraits): Kernel {
  const grid = chunkGrid(size, software);
  return {
    name: 'top-k',
    key: `top-k collect ${size} ${k} ${software}`,
    inputs: 3,
    outputs: 2,
    workgroups: grid.workgroups,
    flops: 8 * size,
    wgsl: () =>
      shader({
        inputs: [`vector : ${quadArray(size, 'u32')}`, 'state : array<u32>', 'tallies : array<vec2<u32>>'],
        outputs: ['indices : array<u32>', 'values : array<u32>'],
        ...grid,
        declarations: `${magnitudes(size)}${classes}${
          software ? '' : `var<workgroup> scan : array<vec2<u32>, ${lanes}>;`
        }`,
        body: `${invocationQuads(size, software)}
  let threshold = state[0];
  let wanted = state[1];
${software ? '  var before = vec2<u32>();' : `${tallied(size)}\n${exclusiveScan}`}
  before += tallies[chunk];
  for (var quad = start; quad < end; quad++) {
    let bits = bits4(quad);
    let inside = min(4u, ${size}u - quad * 4u);
    for (var lane = 0u; lane < inside; lane++) {
      let magnitude = bits[lane] & 0x7fffffffu;
      if (magnitude < threshold) { continue; }
      let equal = magnitude == threshold;
      if (!equal || before.y < wanted) {
        let place = before.x + min(before.y, wanted);
        indices[place] = quad * 4u + lane;
        values[place] = bits[lane];
      }
      before += select(vec2<u32>(1u, 0u), vec2<u32>(0u, 1u), equal);
    }
  }`,
      }),
  };
}
