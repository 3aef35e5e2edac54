/** float32 vectors to and from the float16 of the wire, two values a 32-bit word. */
import { type DeviceTraits, type Kernel, shader } from '../kernel/kernel.ts';
import { feedbackParts, type Feedback } from './feedback.ts';
import { finiteBits, float16Bits } from './float-bits.ts';
import { quadArray, quads, quadStore } from './quads.ts';

const workgroupSize = 64;

/** Groups of four values that one invocation takes. */
function runLength({ software }: DeviceTraits): number {
  return software ? 16 : 1;
}

/** 32-bit words that `size` halves take; the upper half of the last is zero where `size` is odd. */
export function float16Words(size: number): number {
  return Math.ceil(size / 2);
}

/** Four values are two words: a vector of words that is no multiple of four values long is bound word by word. */
function wordAccess(size: number): { type: string; load: string; store: string } {
  if (size % 4 === 0) {
    return { type: 'array<vec2<u32>>', load: 'return words[quad];', store: 'words[quad] = pair;' };
  }
  const rest = `if (quad * 2u + 1u < ${float16Words(size)}u)`;
  return {
    type: 'array<u32>',
    load: `var pair = vec2<u32>(words[quad * 2u], 0u);
  ${rest} { pair.y = words[quad * 2u + 1u]; }
  return pair;`,
    store: `words[quad * 2u] = pair.x;
  ${rest} { words[quad * 2u + 1u] = pair.y; }`,
  };
}

/**
 * [size] float32 (and the residual [size] carried from before) -> ceil(size / 2) words, byte for byte the float16 of
 * `encodeVector` (and the residual [size]).
 */
export function packFloat16Kernel(size: number, traits: DeviceTraits, feedback: Feedback): Kernel {
  const run = runLength(traits);
  const workgroups = Math.ceil(quads(size) / (workgroupSize * run));
  const parts = feedbackParts(size, feedback);
  const words = wordAccess(size);
  return {
    name: 'pack-float16',
    key: `pack-float16 ${size} ${run} ${feedback}`,
    inputs: parts.inputs.length,
    outputs: 1 + parts.outputs.length,
    workgroups,
    flops: 30 * size,
    wgsl: () =>
      shader({
        inputs: parts.inputs,
        outputs: [`words : ${words.type}`, ...parts.outputs],
        workgroupSize,
        workgroups,
        declarations: `${finiteBits}${float16Bits}${parts.declarations}
fn put(quad : u32, pair : vec2<u32>) {
  ${words.store}
}`,
        body: `  for (var step = 0u; step < ${run}u; step++) {
    let quad = (group * ${run}u + step) * ${workgroupSize}u + local;
    if (quad >= ${quads(size)}u) { break; }
    let bits = packed4(quad);
    let halves = halves4(bits);
    put(quad, halves.xz | (halves.yw << vec2<u32>(16u)));
    keep4(quad, bits, singles4(halves));
  }`,
      }),
  };
}

/** ceil(size / 2) words -> [size] float32, exactly. */
export function unpackFloat16Kernel(size: number, traits: DeviceTraits): Kernel {
  const run = runLength(traits);
  const workgroups = Math.ceil(quads(size) / (workgroupSize * run));
  const words = wordAccess(size);
  return {
    name: 'unpack-float16',
    key: `unpack-float16 ${size} ${run}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: 15 * size,
    wgsl: () =>
      shader({
        inputs: [`words : ${words.type}`],
        outputs: [`vector : ${quadArray(size, 'u32')}`],
        workgroupSize,
        workgroups,
        declarations: `${float16Bits}${quadStore('put', 'vector', size, 'u32')}
fn pairAt(quad : u32) -> vec2<u32> {
  ${words.load}
}`,
        body: `  for (var step = 0u; step < ${run}u; step++) {
    let quad = (group * ${run}u + step) * ${workgroupSize}u + local;
    if (quad >= ${quads(size)}u) { break; }
    let pair = pairAt(quad).xxyy >> vec4<u32>(0u, 16u, 0u, 16u);
    put(quad, singles4(pair & vec4<u32>(0xffffu)));
  }`,
      }),
  };
}
