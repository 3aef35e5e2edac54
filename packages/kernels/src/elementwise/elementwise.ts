/** One invocation for each element, or for each four of them where the size divides. */
import { shader, type Kernel } from '../kernel/kernel.ts';
import { rowElements } from '../kernel/rows.ts';
import { geluFunctions } from '../matmul/fragments.ts';

const size = 64;

interface ElementwiseSource {
  name: string;
  /** Beside the name, what the code depends on. */
  variant?: string;
  elements: number;
  inputs: readonly string[];
  declarations?: string;
  /** The result, of the names of the inputs with `[i]`; `T` is the element type. */
  result: string | ((width: 1 | 4) => string);
  /** Adds to the output. */
  accumulate?: boolean;
  extra?: Partial<Kernel>;
}

export function elementwise(source: ElementwiseSource): Kernel {
  const { name, variant = '', elements, inputs, declarations = '', result, accumulate = false } = source;
  const { width, type, count } = rowElements(elements);
  const workgroups = Math.ceil(count / size);
  return {
    name,
    key: `${name} ${variant} ${elements} ${accumulate}`,
    inputs: inputs.length,
    outputs: 1,
    workgroups,
    flops: elements * (inputs.length + 1),
    ...source.extra,
    wgsl: () =>
      shader({
        inputs: inputs.map((input) => `${input} : array<${type}>`),
        outputs: [`y : array<${type}>`],
        workgroupSize: size,
        workgroups,
        declarations: `alias T = ${type};\n${declarations}`,
        body: `  let i = group * ${size}u + local;
  if (i >= ${count}u) { return; }
  y[i] ${accumulate ? '+=' : '='} ${typeof result === 'string' ? result : result(width)};`,
      }),
  };
}

/** a + b of one shape. */
export function addKernel(elements: number): Kernel {
  return elementwise({
    name: 'add',
    elements,
    inputs: ['a', 'b'],
    result: 'a[i] + b[i]',
    extra: { role: 'add' },
  });
}

/** Adds a to the output. */
export function accumulateKernel(elements: number): Kernel {
  return elementwise({ name: 'accumulate', elements, inputs: ['a'], result: 'a[i]', accumulate: true });
}

/** The bits of a, of whatever type: a float that holds an integer's bits may be flushed to zero. */
export function copyKernel(elements: number): Kernel {
  const width = elements % 4 === 0 ? 4 : 1;
  const type = width === 4 ? 'vec4<u32>' : 'u32';
  const count = elements / width;
  const workgroups = Math.ceil(count / size);
  return {
    name: 'copy',
    key: `copy ${elements}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: elements,
    wgsl: () =>
      shader({
        inputs: [`a : array<${type}>`],
        outputs: [`y : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let i = group * ${size}u + local;
  if (i < ${count}u) { y[i] = a[i]; }`,
      }),
  };
}

export function zeroKernel(elements: number): Kernel {
  return elementwise({
    name: 'zero',
    elements,
    inputs: [],
    result: 'T(0.0f)',
    extra: { role: 'zero' },
  });
}

const perComponent = (width: 1 | 4, call: (part: string) => string): string =>
  width === 1 ? call('') : `T(${['.x', '.y', '.z', '.w'].map(call).join(', ')})`;

/** Input u. Output gelu(u). */
export function geluForward(elements: number): Kernel {
  return elementwise({
    name: 'gelu-forward',
    elements,
    inputs: ['u'],
    declarations: geluFunctions,
    result: (width) => perComponent(width, (part) => `gelu(u[i]${part})`),
  });
}

/** Inputs dy, u. Output dy gelu'(u). */
export function geluBackward(elements: number): Kernel {
  return elementwise({
    name: 'gelu-backward',
    elements,
    inputs: ['dy', 'u'],
    declarations: geluFunctions,
    result: (width) => `dy[i] * ${perComponent(width, (part) => `geluGradient(u[i]${part})`)}`,
  });
}

/** Inputs dy, u. Output dy where u is above 0, or is not a number. */
export function reluBackward(elements: number): Kernel {
  return elementwise({
    name: 'relu-backward',
    elements,
    inputs: ['dy', 'u'],
    result: 'select(dy[i], T(0.0f), u[i] <= T(0.0f))',
  });
}

/** Inputs x and a factor [1]. Output x times the factor. */
export function scaleKernel(elements: number): Kernel {
  const { type, count } = rowElements(elements);
  const workgroups = Math.ceil(count / size);
  return {
    name: 'scale',
    key: `scale ${elements}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: elements,
    wgsl: () =>
      shader({
        inputs: [`x : array<${type}>`, 'factor : array<f32>'],
        outputs: [`y : array<${type}>`],
        workgroupSize: size,
        workgroups,
        body: `  let i = group * ${size}u + local;
  if (i < ${count}u) { y[i] = x[i] * factor[0]; }`,
      }),
  };
}

const siluFunctions = `
fn sigmoid(x : f32) -> f32 {
  let e = exp(-abs(x));
  return select(e, 1.0f, x >= 0.0f) / (1.0f + e);
}`;

/**
 * SwiGLU without its matrices (arXiv 2002.05202). Input packed [rows, 2 x columns]: gates, then values. Output
 * silu(gate) value, [rows, columns].
 */
export function swigluForward(rows: number, columns: number): Kernel {
  const elements = rows * columns;
  const workgroups = Math.ceil(elements / size);
  return {
    name: 'swiglu-forward',
    key: `swiglu-forward ${rows}x${columns}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: 8 * elements,
    wgsl: () =>
      shader({
        inputs: ['x : array<f32>'],
        outputs: ['y : array<f32>'],
        workgroupSize: size,
        workgroups,
        declarations: siluFunctions,
        body: `  let i = group * ${size}u + local;
  if (i >= ${elements}u) { return; }
  let at = i / ${columns}u * ${2 * columns}u + i % ${columns}u;
  y[i] = x[at] * sigmoid(x[at]) * x[at + ${columns}u];`,
      }),
  };
}

/** Inputs dy [rows, columns], packed [rows, 2 x columns]. Output the gradient of packed. */
export function swigluBackward(rows: number, columns: number): Kernel {
  const elements = rows * columns;
  const workgroups = Math.ceil(elements / size);
  return {
    name: 'swiglu-backward',
    key: `swiglu-backward ${rows}x${columns}`,
    inputs: 2,
    outputs: 1,
    workgroups,
    flops: 16 * elements,
    wgsl: () =>
      shader({
        inputs: ['dy : array<f32>', 'x : array<f32>'],
        outputs: ['dx : array<f32>'],
        workgroupSize: size,
        workgroups,
        declarations: siluFunctions,
        body: `  let i = group * ${size}u + local;
  if (i >= ${elements}u) { return; }
  let at = i / ${columns}u * ${2 * columns}u + i % ${columns}u;
  let s = sigmoid(x[at]);
  dx[at] = dy[i] * x[at + ${columns}u] * s * (1.0f + x[at] * (1.0f - s));
  dx[at + ${columns}u] = dy[i] * x[at] * s;`,
      }),
  };
}
