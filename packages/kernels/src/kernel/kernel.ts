/**
 * A kernel of our own: WGSL for one fixed set of shapes, with the grid it runs on. Shapes are constants of the shader,
 * so that a compiler can unroll and bounds cost nothing; whatever changes from call to call is an input buffer.
 */

/** What a device offers that changes which code is written for it. */
export interface DeviceTraits {
  /** No GPU behind it: barriers are dear, invocations are few. */
  readonly software: boolean;
  readonly f16: boolean;
  /** Products may round their operands to float16. Off unless asked for: it changes results. */
  readonly mixedPrecision?: boolean;
  readonly subgroups: boolean;
  readonly maxInvocations: number;
  readonly maxWorkgroupBytes: number;
  readonly maxBindingBytes: number;
  readonly maxStorageBuffers: number;
}

export interface Kernel {
  /** The family: the name under which it is tested, reported and switched off, such as `layer-norm-forward`. */
  readonly name: string;
  /** All that the WGSL depends on; equal keys share a pipeline. */
  readonly key: string;
  readonly wgsl: () => string;
  /** Read-only buffers, bound first, and buffers written (or read and written), bound after them. */
  readonly inputs: number;
  readonly outputs: number;
  /** Workgroups in one flat row; the shader sees the index of its own as `group`. */
  readonly workgroups: number;
  /** Up to four numbers (u32) that the shader takes with each launch, where it was written with `arguments`. */
  readonly arguments?: readonly number[];
  /** Floating-point operations of one run, an estimate by which long runs are split. */
  readonly flops: number;
  /** The same kernel, adding to what its outputs hold instead of overwriting it. */
  readonly accumulating?: () => Kernel;
  /** The same kernel with one more input, last, that is added to its first output. */
  readonly adding?: () => Kernel;
  /** Adds to what its outputs hold, and has no other form. */
  readonly adds?: boolean;
  /** What a recorded step may do without (`capture/`). */
  readonly role?: 'add' | 'zero';
}

export interface ShaderSource {
  /** `name: type` of each buffer, in binding order. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly workgroupSize: number;
  readonly workgroups: number;
  /** Takes the kernel's arguments as `arguments` (vec4<u32>); they do not count into its key. */
  readonly arguments?: boolean;
  readonly features?: readonly ('f16' | 'subgroups')[];
  /** Module scope: functions, workgroup memory. */
  readonly declarations?: string;
  /** Statements; may use `group` (u32, below `workgroups`) and `local` (u32, index in the workgroup). */
  readonly body: string;
}

/** Workgroups along the first axis of a grid; WebGPU allows 65,535 and more goes into the second axis. */
export const gridRow = 32_768;

/** The grid that covers `workgroups`, and maybe some more that return at once. */
export function grid(workgroups: number): [number, number] {
  return workgroups <= gridRow ? [workgroups, 1] : [gridRow, Math.ceil(workgroups / gridRow)];
}

/**
 * A whole shader from its parts. The uniform `launch` holds the range of workgroups that a dispatch covers (a long run is
 * several dispatches) and the arguments. The early return depends on uniform values alone, so barriers may follow it.
 */
export function shader(source: ShaderSource): string {
  const { inputs, outputs, workgroupSize, workgroups, features = [] } = source;
  const named = source.arguments ?? false;
  const subgroups = features.includes('subgroups');
  const buffers = [
    ...inputs.map((input, i) => `@group(0) @binding(${i}) var<storage, read> ${input};`),
    ...outputs.map(
      (output, i) => `@group(0) @binding(${inputs.length + i}) var<storage, read_write> ${output};`,
    ),
  ];
  return `${features.map((feature) => `enable ${feature};\n`).join('')}${buffers.join('\n')}
@group(1) @binding(0) var<uniform> launch : array<vec4<u32>, 2>;
${source.declarations ?? ''}
@compute @workgroup_size(${workgroupSize})
fn main(@builtin(workgroup_id) workgroupId : vec3<u32>, @builtin(local_invocation_index) local : u32${
    subgroups
      ? ', @builtin(subgroup_size) subgroupSize : u32, @builtin(subgroup_invocation_id) subgroupLane : u32'
      : ''
  }) {
  let group = launch[0].x + workgroupId.x + workgroupId.y * ${gridRow}u;
  ${named ? 'let arguments = launch[1];' : ''}
  if (group >= ${named ? 'launch[0].y' : `min(launch[0].y, ${workgroups}u)`}) { return; }
${source.body}
}
`;
}

/** A finite float as WGSL; float32 takes the nearest. */
export function f32(value: number): string {
  const text = Math.fround(value).toString();
  return /[.e]/.test(text) ? `${text}f` : `${text}.0f`;
}
