/** float32 vectors to and from the int8 of the wire: blocks of 256 that share a scale, all scales, then all values. */
import { encodedBytes, int8Block } from '@tabweave/shared';
import { type DeviceTraits, type Kernel, shader } from '../kernel/kernel.ts';
import { feedbackParts, type Feedback } from './feedback.ts';
import { finiteBits, int8Bits } from './float-bits.ts';
import { quadArray, quads, quadStore } from './quads.ts';

const quadsPerBlock = int8Block / 4;
/** An invocation for each four values of a block; on software adapters, for each block. */
const [lanes, softwareLanes] = [quadsPerBlock, 16];

/** 32-bit words that `size` values take with their scales; what is left of the last word is zero. */
export function int8Words(size: number): number {
  return Math.ceil(encodedBytes(size, 'int8') / 4);
}

function blocks(size: number): number {
  return Math.ceil(size / int8Block);
}

const bytesOfWord = `
fn wordOf(values : vec4<i32>) -> u32 {
  let bytes = (vec4<u32>(values) & vec4<u32>(0xffu)) << vec4<u32>(0u, 8u, 16u, 24u);
  return bytes.x | bytes.y | bytes.z | bytes.w;
}
`;

/**
 * [size] float32 (and the residual [size] carried from before) -> the words of scales and values, byte for byte the
 * int8 of `encodeVector` (and the residual [size]).
 */
export function packInt8Kernel(size: number, { software }: DeviceTraits, feedback: Feedback): Kernel {
  const parts = feedbackParts(size, feedback);
  const workgroups = software ? Math.ceil(blocks(size) / softwareLanes) : blocks(size);
  const packQuad = `
fn packQuad(quad : u32, bits : vec4<u32>, scale : u32, parts : Scale) {
  let values = quantised4(bits, parts);
  words[${blocks(size)}u + quad] = wordOf(values);
  keep4(quad, bits, dequantised4(values, scale));
}
fn largestOf(bits : vec4<u32>) -> u32 {
  let sizes = bits & vec4<u32>(0x7fffffffu);
  return max(max(sizes.x, sizes.y), max(sizes.z, sizes.w));
}
`;
  return {
    name: 'pack-int8',
    key: `pack-int8 ${size} ${software} ${feedback}`,
    inputs: parts.inputs.length,
    outputs: 1 + parts.outputs.length,
    workgroups,
    flops: 60 * size,
    wgsl: () =>
      shader({
        inputs: parts.inputs,
        outputs: ['words : array<u32>', ...parts.outputs],
        workgroupSize: software ? softwareLanes : lanes,
        workgroups,
        declarations: `${finiteBits}${int8Bits}${bytesOfWord}${parts.declarations}${packQuad}${
          software ? '' : 'var<workgroup> largest : atomic<u32>;\n'
        }`,
        body: software ? blockPerInvocation(size) : blockPerWorkgroup(size),
      }),
  };
}

function blockPerInvocation(size: number): string {
  return `  let block = group * ${softwareLanes}u + local;
  if (block >= ${blocks(size)}u) { return; }
  let start = block * ${quadsPerBlock}u;
  let end = min(start + ${quadsPerBlock}u, ${quads(size)}u);
  var largest = 0u;
  for (var quad = start; quad < end; quad++) { largest = max(largest, largestOf(packed4(quad))); }
  let scale = scaleOf(largest);
  let parts = divisor(scale);
  words[block] = scale;
  for (var quad = start; quad < end; quad++) { packQuad(quad, packed4(quad), scale, parts); }`;
}

/** A maximum of integers is the same in any order, so an atomic one is deterministic. */
function blockPerWorkgroup(size: number): string {
  return `  let quad = group * ${lanes}u + local;
  let inside = quad < ${quads(size)}u;
  var bits = vec4<u32>();
  if (inside) { bits = packed4(quad); }
  atomicMax(&largest, largestOf(bits));
  workgroupBarrier();
  let scale = scaleOf(atomicLoad(&largest));
  if (local == 0u) { words[group] = scale; }
  if (inside) { packQuad(quad, bits, scale, divisor(scale)); }`;
}

/** The words of scales and values -> [size] float32, as `decodeVector` gives them. */
export function unpackInt8Kernel(size: number, { software }: DeviceTraits): Kernel {
  const run = software ? 16 : 1;
  const workgroups = Math.ceil(quads(size) / (lanes * run));
  return {
    name: 'unpack-int8',
    key: `unpack-int8 ${size} ${run}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: 20 * size,
    wgsl: () =>
      shader({
        inputs: ['words : array<u32>'],
        outputs: [`vector : ${quadArray(size, 'u32')}`],
        workgroupSize: lanes,
        workgroups,
        declarations: `${int8Bits}${quadStore('put', 'vector', size, 'u32')}`,
        body: `  for (var step = 0u; step < ${run}u; step++) {
    let quad = (group * ${run}u + step) * ${lanes}u + local;
    if (quad >= ${quads(size)}u) { break; }
    let word = vec4<u32>(words[${blocks(size)}u + quad]);
    // Up to the top byte and back down: the sign comes along.
    let values = bitcast<vec4<i32>>(word << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u);
    put(quad, dequantised4(values, words[quad / ${quadsPerBlock}u]));
  }`,
      }),
  };
}
