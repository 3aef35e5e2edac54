/** Pieces of WGSL that load parts of the operands; the same for both ways of cutting the work. */
import type { MatMulProblem } from './problem.ts';

export interface Operand {
  /** Element type of the buffer. */
  readonly type: 'f32' | 'vec4<f32>';
  /** The axis along which a load takes four, if it does. */
  readonly vector: 'k' | 'other' | null;
}

/** Four at a time along whichever axis is contiguous, where its length allows. */
export function operandA({ transposeA, m, k }: MatMulProblem, tileRows: number): Operand {
  if (transposeA && m % 4 === 0 && tileRows % 4 === 0) return { type: 'vec4<f32>', vector: 'other' };
  if (!transposeA && k % 4 === 0) return { type: 'vec4<f32>', vector: 'k' };
  return { type: 'f32', vector: null };
}

export function operandB({ transposeB, n, k }: MatMulProblem): Operand {
  if (!transposeB && n % 4 === 0) return { type: 'vec4<f32>', vector: 'other' };
  if (transposeB && k % 4 === 0) return { type: 'vec4<f32>', vector: 'k' };
  return { type: 'f32', vector: null };
}

export const count = (length: number): number[] => Array.from({ length }, (_, index) => index);

export const component = (index: number): string => 'xyzw'[index] as string;

/**
 * GELU, tanh approximation (arXiv 1606.08415), and its derivative. Beyond 10 it is x or 0 to the last bit of float32,
 * and some drivers' tanh is not to be trusted there.
 */
export const geluFunctions = `
fn geluTanh(x : f32) -> f32 {
  return tanh(clamp(0.7978845608f * x * (1.0f + 0.044715f * x * x), -10.0f, 10.0f));
}
fn gelu(x : f32) -> f32 {
  return select(0.5f * x * (1.0f + geluTanh(x)), max(x, 0.0f), abs(x) > 10.0f);
}
fn geluGradient(x : f32) -> f32 {
  let t = geluTanh(x);
  let slope = 0.5f * x * (1.0f - t * t) * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
  return select(0.5f * (1.0f + t) + slope, step(0.0f, x), abs(x) > 10.0f);
}`;
