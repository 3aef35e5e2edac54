/**
 * Rotary position embedding (arXiv 2104.09864) in the half-split layout of Llama in Hugging Face's transformers: the
 * pair of a column d below half the head is d + half.
 */
import { shader, type Kernel } from '../kernel/kernel.ts';

export interface RotaryShape {
  readonly samples: number;
  readonly tokens: number;
  readonly heads: number;
  readonly headWidth: number;
  /** Base of the wavelengths: 10,000 in the paper. */
  readonly base: number;
}

const size = 64;

/** Cosine and sine of each angle, [tokens, headWidth / 2, 2]; from float64, since WGSL's are coarse for large angles. */
export function rotaryTable({ tokens, headWidth, base }: RotaryShape): Float32Array {
  const half = headWidth / 2;
  const table = new Float32Array(tokens * headWidth);
  for (let token = 0; token < tokens; token++) {
    for (let d = 0; d < half; d++) {
      const angle = token * base ** (-d / half);
      table[2 * (token * half + d)] = Math.cos(angle);
      table[2 * (token * half + d) + 1] = Math.sin(angle);
    }
  }
  return table;
}

/**
 * Inputs x [samples x tokens, heads x headWidth] and the table. Output of the shape of x; `backward` turns the other
 * way, which is the gradient.
 */
export function rotaryKernel(shape: RotaryShape, backward: boolean): Kernel {
  const { samples, tokens, heads, headWidth } = shape;
  const half = headWidth / 2;
  const pairs = samples * tokens * heads * half;
  const workgroups = Math.ceil(pairs / size);
  return {
    name: backward ? 'rotary-backward' : 'rotary-forward',
    key: `rotary ${samples} ${tokens} ${heads}x${headWidth} ${backward}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: 6 * pairs,
    wgsl: () =>
      shader({
        inputs: ['x : array<f32>', 'table : array<vec2<f32>>'],
        outputs: ['y : array<f32>'],
        workgroupSize: size,
        workgroups,
        body: `  let i = group * ${size}u + local;
  if (i >= ${pairs}u) { return; }
  let d = i % ${half}u;
  let head = i / ${half}u;
  let turn = table[head / ${heads}u % ${tokens}u * ${half}u + d];
  let s = ${backward ? '-' : ''}turn.y;
  let at = head * ${headWidth}u + d;
  let a = x[at];
  let b = x[at + ${half}u];
  y[at] = a * turn.x - b * s;
  y[at + ${half}u] = b * turn.x + a * s;`,
      }),
  };
}
