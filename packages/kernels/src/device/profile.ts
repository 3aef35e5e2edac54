/**
 * What a device can do, measured in less than a second: for a planner that must place work before it has seen any done.
 * Sizes grow until a measurement is long enough to be believed.
 */
import type { DeviceProfile } from '@tabweave/shared';
import { grid, shader, type Kernel } from '../kernel/kernel.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { likelyTile, matMulKernel } from '../matmul/matmul.ts';
import type { MatMulProblem } from '../matmul/problem.ts';

/** A measurement is believed from this many milliseconds on. */
const believable = 20;
const productSizes = [128, 256, 512, 1024, 2048];
const copySizes = [1, 4, 16, 64].map((mebibytes) => mebibytes * 2 ** 20);
const launches = 200;

export async function measureProfile(runtime: KernelRuntime, budget = 900): Promise<DeviceProfile> {
  const end = performance.now() + budget;
  const inTime = (share: number): boolean => performance.now() < end - budget * (1 - share);
  const flopsPerSecond = await grow(
    productSizes,
    () => inTime(0.45),
    (size) => productRate(runtime, size),
  );
  const bytesPerSecond = await grow(
    copySizes,
    () => inTime(0.7),
    (size) => copyRate(runtime, size),
  );
  const launchMicroseconds = await launchCost(runtime);
  const largestBufferBytes = await largestBuffer(runtime, () => performance.now() < end);
  return { flopsPerSecond, bytesPerSecond, launchMicroseconds, largestBufferBytes };
}

interface Measured {
  milliseconds: number;
  rate: number;
}

/** The best rate over growing sizes, until one takes long enough or the time is up. */
async function grow(
  sizes: readonly number[],
  inTime: () => boolean,
  measure: (size: number) => Promise<Measured>,
): Promise<number> {
  let best = 0;
  for (const size of sizes) {
    const { milliseconds, rate } = await measure(size);
    best = Math.max(best, rate);
    // The next size takes four to eight times as long.
    if (milliseconds > believable || !inTime()) break;
  }
  return best;
}

async function productRate(runtime: KernelRuntime, size: number): Promise<Measured> {
  const problem: MatMulProblem = {
    batch: 1,
    m: size,
    n: size,
    k: size,
    transposeA: false,
    transposeB: false,
  };
  const kernel = matMulKernel(problem, likelyTile(problem, runtime.traits), runtime.traits);
  const milliseconds = await timeLaunches(runtime, kernel, [size * size, size * size, size * size], 1);
  return { milliseconds, rate: (kernel.flops * 1000) / milliseconds };
}

async function copyRate(runtime: KernelRuntime, bytes: number): Promise<Measured> {
  const milliseconds = await timeLaunches(runtime, copyKernel(bytes / 16), [bytes / 4, bytes / 4], 1);
  return { milliseconds, rate: (2 * bytes * 1000) / milliseconds };
}

async function launchCost(runtime: KernelRuntime): Promise<number> {
  const kernel = copyKernel(1);
  const one = await timeLaunches(runtime, kernel, [4, 4], 1);
  const many = await timeLaunches(runtime, kernel, [4, 4], launches);
  return Math.max(0, ((many - one) * 1000) / (launches - 1));
}

function copyKernel(vectors: number): Kernel {
  const workgroups = Math.ceil(vectors / 64);
  return {
    name: 'copy',
    key: `copy ${vectors}`,
    inputs: 1,
    outputs: 1,
    workgroups,
    flops: 4 * vectors,
    wgsl: () =>
      shader({
        inputs: ['x : array<vec4<f32>>'],
        outputs: ['y : array<vec4<f32>>'],
        workgroupSize: 64,
        workgroups,
        body: `  let i = group * 64u + local;
  if (i < ${vectors}u) { y[i] = x[i]; }`,
      }),
  };
}

/** Milliseconds of `count` launches in one submit, after one to warm up; the better of two. @param sizes in elements. */
async function timeLaunches(
  runtime: KernelRuntime,
  kernel: Kernel,
  sizes: readonly number[],
  count: number,
): Promise<number> {
  const { device } = runtime;
  const pipeline = await runtime.prepare(kernel);
  const buffers = sizes.map((size) => device.createBuffer({ size: 4 * size, usage: GPUBufferUsage.STORAGE }));
  const bindGroup = device.createBindGroup({
    layout: runtime.layout(kernel),
    entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
  });
  const once = async (times: number): Promise<number> => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.setBindGroup(1, runtime.span(kernel));
    for (let i = 0; i < times; i++) pass.dispatchWorkgroups(...grid(kernel.workgroups));
    pass.end();
    const began = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return Math.max(performance.now() - began, 0.01);
  };
  try {
    await once(1);
    const first = await once(count);
    return first > 4 * believable ? first : Math.min(first, await once(count));
  } finally {
    for (const buffer of buffers) buffer.destroy();
  }
}

/** Halves from the limit until one can be made, cleared and bound. At least 1 MiB is assumed. */
async function largestBuffer(runtime: KernelRuntime, inTime: () => boolean): Promise<number> {
  const { device, traits } = runtime;
  let size = Math.floor(traits.maxBindingBytes / 4) * 4;
  while (size > 2 ** 20 && inTime()) {
    device.pushErrorScope('validation');
    device.pushErrorScope('out-of-memory');
    const buffer = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    encoder.clearBuffer(buffer, size - 4, 4);
    device.queue.submit([encoder.finish()]);
    const errors = await Promise.all([device.popErrorScope(), device.popErrorScope()]);
    buffer.destroy();
    if (errors.every((error) => error === null)) return size;
    size = Math.floor(size / 8) * 4;
  }
  return Math.max(size, 2 ** 20);
}
