/**
 * The front of every packing kernel: the vector that is packed, and what packing leaves out of it, which error
 * feedback adds to the next vector (Seide et al. 2014, "1-bit SGD", section 2; Karimireddy et al. arXiv 1901.09847).
 */
import { quadArray, quadLoad, quadStore } from './quads.ts';

/**
 * - `none`: packs `source`.
 * - `first`: packs `source`, and gives the residual.
 * - `next`: packs `source + carried`, and gives the residual.
 */
export type Feedback = 'none' | 'first' | 'next';

export interface FeedbackParts {
  inputs: string[];
  /** To come after the buffer of packed words. */
  outputs: string[];
  /**
   * WGSL: `packed4(quad) -> vec4<u32>`, the bits of what is to be packed, and `keep4(quad, bits, arrived)`, which takes
   * those bits and the ones that the receiver will decode.
   */
  declarations: string;
}

/** Sums and differences are single float32 operations, rounded exactly; denormal ones may become zero. */
export function feedbackParts(size: number, feedback: Feedback): FeedbackParts {
  const inputs = [`source : ${quadArray(size, 'u32')}`];
  const outputs: string[] = [];
  let declarations = quadLoad('source4', 'source', size, 'u32');
  if (feedback === 'next') {
    inputs.push(`carried : ${quadArray(size, 'u32')}`);
    declarations += `${quadLoad('carried4', 'carried', size, 'u32')}
fn packed4(quad : u32) -> vec4<u32> {
  let bits = source4(quad);
  let more = carried4(quad);
  let sum = bitcast<vec4<u32>>(bitcast<vec4<f32>>(bits) + bitcast<vec4<f32>>(more));
  return select(bits, select(more, sum, isFinite4(more)), isFinite4(bits));
}
`;
  } else {
    declarations += 'fn packed4(quad : u32) -> vec4<u32> { return source4(quad); }\n';
  }
  if (feedback === 'none') {
    declarations += 'fn keep4(quad : u32, bits : vec4<u32>, arrived : vec4<u32>) {}\n';
  } else {
    outputs.push(`residual : ${quadArray(size, 'u32')}`);
    declarations += `${quadStore('residual4', 'residual', size, 'u32')}
fn keep4(quad : u32, bits : vec4<u32>, arrived : vec4<u32>) {
  let left = bitcast<vec4<u32>>(bitcast<vec4<f32>>(bits) - bitcast<vec4<f32>>(arrived));
  residual4(quad, select(vec4<u32>(0x7fc00000u), left, isFinite4(bits) & isFinite4(arrived)));
}
`;
  }
  return { inputs, outputs, declarations };
}
