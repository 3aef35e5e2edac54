/**
 * Every kernel compiles, on Dawn without a GPU: its null back end checks shaders, pipelines and dispatches as for any
 * other, accepts every feature, and runs nothing.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { WebGPUBackend } from '@tensorflow/tfjs-backend-webgpu';
import { create, globals } from 'webgpu';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { everyKernel } from '../testing/every-kernel.ts';
import { grid, shader, type DeviceTraits, type Kernel, type ShaderSource } from './kernel.ts';
import { KernelRuntime } from './runtime.ts';

/** What WebGPU promises everywhere. */
const promised = {
  f16: false,
  subgroups: false,
  maxInvocations: 256,
  maxWorkgroupBytes: 16_384,
  maxBindingBytes: 2 ** 27,
  maxStorageBuffers: 8,
};
const forms: Record<string, DeviceTraits> = {
  'a software adapter': { ...promised, software: true },
  'a GPU': { ...promised, software: false },
  'a GPU with f16 and subgroups': { ...promised, software: false, f16: true, subgroups: true },
};

Object.assign(globalThis, globals);
// Dawn forgets a GPU that nothing refers to, with its devices.
let gpu: GPU;
const devices: GPUDevice[] = [];
beforeAll(() => {
  gpu = create(['backend=null']);
});
afterAll(() => devices.forEach((device) => device.destroy()));

/** A device with no more than `traits` say, and the errors on it that nobody caught. */
async function checker(traits: DeviceTraits): Promise<Checker> {
  const adapter = await gpu.requestAdapter();
  if (!adapter) throw new Error('Dawn has no null back end');
  const device = await adapter.requestDevice({
    requiredFeatures: [
      ...(traits.f16 ? (['shader-f16'] as const) : []),
      ...(traits.subgroups ? (['subgroups'] as const) : []),
    ],
    requiredLimits: {
      maxComputeInvocationsPerWorkgroup: traits.maxInvocations,
      maxComputeWorkgroupSizeX: traits.maxInvocations,
      maxComputeWorkgroupStorageSize: traits.maxWorkgroupBytes,
      maxStorageBuffersPerShaderStage: traits.maxStorageBuffers,
    },
  });
  devices.push(device);
  return new Checker(device, traits);
}

class Checker {
  readonly #device: GPUDevice;
  readonly #runtime: KernelRuntime;
  readonly #errors: string[] = [];
  /** One for each binding of a dispatch. */
  readonly #buffers: GPUBuffer[] = [];

  constructor(device: GPUDevice, traits: DeviceTraits) {
    this.#device = device;
    this.#runtime = new KernelRuntime({ device } as WebGPUBackend, traits);
    device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      this.#errors.push(event.error.message);
    });
  }

  /** What is wrong with `kernels`: empty when every one compiles and can be dispatched. */
  async problems(kernels: readonly Kernel[]): Promise<string[]> {
    const found: string[] = [];
    for (const kernel of kernels) {
      try {
        this.#dispatch(kernel, await this.#runtime.prepare(kernel));
      } catch (error) {
        found.push(`${kernel.key}: ${(error as Error).message}`);
      }
    }
    await this.#device.queue.onSubmittedWorkDone();
    return [...found, ...this.#errors.splice(0)];
  }

  #dispatch(kernel: Kernel, pipeline: GPUComputePipeline): void {
    const entries = Array.from({ length: kernel.inputs + kernel.outputs }, (_, binding) => ({
      binding,
      resource: { buffer: this.#buffer(binding) },
    }));
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(
      0,
      this.#device.createBindGroup({ layout: this.#runtime.layout(kernel), entries, label: kernel.key }),
    );
    pass.setBindGroup(1, this.#runtime.span(kernel));
    pass.dispatchWorkgroups(...grid(kernel.workgroups));
    pass.end();
    this.#device.queue.submit([encoder.finish({ label: kernel.key })]);
  }

  #buffer(binding: number): GPUBuffer {
    return (this.#buffers[binding] ??= this.#device.createBuffer({
      size: 4096,
      usage: GPUBufferUsage.STORAGE,
    }));
  }
}

/** With their other forms, each once. */
function allForms(kernels: readonly Kernel[]): Kernel[] {
  const all = kernels.flatMap((kernel) => [kernel, kernel.accumulating?.(), kernel.adding?.()]);
  return [
    ...new Map(
      all.flatMap((kernel) => (kernel ? [[`${kernel.key} ${kernel.workgroups}`, kernel]] : [])),
    ).values(),
  ];
}

describe.each(Object.entries(forms))('for %s', (_, traits) => {
  let check: Checker;
  beforeAll(async () => {
    check = await checker(traits);
  });
  it.each(Object.entries(everyKernel))('%s compiles', async (_name, make) => {
    const kernels = allForms(make(traits));
    expect(kernels.length).toBeGreaterThan(0);
    expect(await check.problems(kernels)).toEqual([]);
  });
});

it('every exported factory is among them', () => {
  const folder = new URL('..', import.meta.url);
  const exported = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|^testing/.test(file))
    .flatMap((file) =>
      [
        ...readFileSync(new URL(file, folder), 'utf8').matchAll(
          /^export function (\w+)\([^)]*\): Kernel(\[\])? \{/gm,
        ),
      ].map(([, name]) => `${file.split(/[\\/]/)[0]}/${name}`),
    );
  // These take what others build.
  const builders = ['elementwise/elementwise', 'optimizer/elementwiseKernel'];
  const missing = exported.filter((name) => !builders.includes(name) && !compiled(name));
  expect(missing, 'to be added to testing/every-kernel.ts').toEqual([]);
});

const compiled = (name: string): boolean =>
  name in everyKernel || (name.split('/')[1] as string) in everyKernel;

describe('a broken kernel is found', () => {
  const kernel = (parts: Partial<ShaderSource>, rest: Partial<Kernel> = {}): Kernel => ({
    name: 'broken',
    key: `broken ${JSON.stringify([parts, rest])}`,
    inputs: 1,
    outputs: 1,
    workgroups: 1,
    flops: 1,
    wgsl: () =>
      shader({
        inputs: ['x : array<f32>'],
        outputs: ['y : array<f32>'],
        workgroupSize: 64,
        workgroups: 1,
        body: '  y[local] = x[local];',
        ...parts,
      }),
    ...rest,
  });
  const tree = 'partial[local] = x[local]; workgroupBarrier(); y[local] = partial[63u - local];';
  const declarations = 'var<workgroup> partial : array<f32, 64>;';

  it.each<[string, Kernel, RegExp | null]>([
    ['nothing is wrong', kernel({}), null],
    ['nothing is wrong with a barrier', kernel({ declarations, body: tree }), null],
    ['a type', kernel({ body: '  y[local] = x[local] + 1u;' }), /no matching overload/],
    ['a name', kernel({ body: '  y[local] = z[local];' }), /unresolved value 'z'/],
    ['one more buffer than said', kernel({}, { inputs: 0 }), /binding/],
    [
      'a barrier that some do not reach',
      kernel({ declarations, body: `  if (x[local] > 0.0f) { return; } ${tree}` }),
      /uniform control flow/,
    ],
    ['a feature', kernel({ features: ['subgroups'] }), /subgroups/],
    ['a large workgroup', kernel({ workgroupSize: 512 }), /512/],
    [
      'workgroup memory',
      kernel({ declarations: declarations.replace('64', '8192'), body: tree }),
      /workgroup storage|storage size/,
    ],
    ['a grid', kernel({}, { workgroups: 32_768 * 65_536 }), /65535|workgroup count/i],
  ])('%s', async (_, broken, words) => {
    const problems = await (await checker(forms['a GPU'] as DeviceTraits)).problems([broken]);
    if (words === null) expect(problems).toEqual([]);
    else expect(problems.join('\n')).toMatch(words);
  });
});
