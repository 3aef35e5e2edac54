/** Bytes read and written a second by a shader that does nothing else. */
import type { RawDevice } from './raw-device.ts';

const threads = 256;
const strides = [1, 4, 8];

const shader = (quads: number, each: number): string => `
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> copy: array<vec4f>;
@compute @workgroup_size(${threads})
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let step = groups.x * ${threads}u;
  for (var i = id.x; i < ${quads}u; i += step) { copy[i] = source[i]; }
}
// ${each} a thread`;

/** @param bytes of the buffer copied; large enough not to stay in a cache. */
export async function copyBandwidth(raw: RawDevice, bytes: number): Promise<number> {
  const quads = bytes / 16;
  const from = raw.buffer(bytes);
  const to = raw.buffer(bytes);
  let best = 0;
  for (const each of strides) {
    const groups = Math.min(65_535, Math.ceil(quads / threads / each));
    const pipeline = await raw.pipeline(shader(quads, each));
    const seconds = await raw.seconds(pipeline, [from, to], [groups, 1], 0.1);
    best = Math.max(best, (2 * bytes) / seconds);
  }
  from.destroy();
  to.destroy();
  return best;
}
