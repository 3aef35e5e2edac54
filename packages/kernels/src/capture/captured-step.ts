/**
 * A step of fixed shapes, recorded once and replayed: pipelines, bind groups and a planned arena of buffers are ready,
 * so that a replay is a handful of calls for each launch, allocates nothing and asks TensorFlow.js for nothing.
 */
import type * as tf from '@tensorflow/tfjs';
import { grid, type Kernel } from '../kernel/kernel.ts';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { planArena, type Lifetime } from './arena.ts';
import { foldLaunches, type Sink } from './fold.ts';
import type { BufferId, Launch } from './launch.ts';
import { PassRecorder, type Dispatchable } from './pass-recorder.ts';
import { trace, type Trace } from './trace.ts';

export interface StepTarget {
  /**
   * Takes the result at the same place of what the step returns; of the same size and type. The step may not read it,
   * and no other result may go there.
   */
  readonly tensor: tf.Tensor;
  readonly add: boolean;
}

export interface StepDescription {
  /** What the step reads and what changes between replays: parameters, tokens. */
  readonly inputs: readonly tf.Tensor[];
  readonly targets: readonly StepTarget[];
  /** Must launch the same work whenever it is called; see `trace`. */
  readonly run: () => readonly tf.Tensor[];
}

interface Prepared extends Dispatchable {
  /** Null for a program of TensorFlow.js. */
  readonly kernel: Kernel | null;
  readonly span: GPUBindGroup | null;
  readonly workgroups: number;
  readonly dispatch: readonly [number, number, number];
  readonly flops: number;
}

export class CapturedStep {
  readonly launches: number;
  /** Launches before folding: what the operations by themselves would have taken. */
  readonly recorded: number;
  /** Bytes of the arena. */
  readonly bytes: number;
  readonly flops: number;
  readonly #runtime: KernelRuntime;
  readonly #prepared: readonly Prepared[];
  readonly #slots: readonly GPUBuffer[];
  readonly #trace: Trace;
  readonly #targets: readonly BufferId[];
  #disposed = false;

  private constructor(
    runtime: KernelRuntime,
    prepared: readonly Prepared[],
    slots: readonly GPUBuffer[],
    recorded: Trace,
    targets: readonly BufferId[],
  ) {
    this.#targets = targets;
    this.#runtime = runtime;
    this.#prepared = prepared;
    this.#slots = slots;
    this.#trace = recorded;
    this.launches = prepared.length;
    this.recorded = recorded.launches.length;
    this.bytes = slots.reduce((sum, slot) => sum + slot.size, 0);
    this.flops = prepared.reduce((sum, { flops }) => sum + flops, 0);
  }

  /**
   * Records a step and makes it ready; nothing of it runs. Stock operations must not run on the back end until this has
   * resolved: their pipelines may not be there yet.
   * @throws Error where the step reads values, draws random numbers, writes what it reads, or a pipeline does not compile.
   */
  static async capture(runtime: KernelRuntime, step: StepDescription): Promise<CapturedStep> {
    let recorded: Trace | null = null;
    try {
      recorded = trace(runtime, step.inputs, step.run);
      return await build(runtime, step, recorded);
    } catch (error) {
      recorded?.release();
      // Pipelines that stock operations have begun to compile must be there when they run by themselves.
      await stockPipelines(runtime).checkCompileCompletionAsync();
      throw error;
    }
  }

  /** @internal */
  static assemble(
    runtime: KernelRuntime,
    prepared: readonly Prepared[],
    slots: readonly GPUBuffer[],
    recorded: Trace,
    targets: readonly BufferId[],
  ): CapturedStep {
    return new CapturedStep(runtime, prepared, slots, recorded, targets);
  }

  /** Submits the whole step, after all that was submitted or recorded before. */
  replay(): void {
    if (this.#disposed) throw new Error('the captured step has been disposed of');
    const { tensorMap } = this.#runtime.backend;
    for (const id of this.#targets) {
      // Its buffer may be another tensor's by now.
      if (!tensorMap.has(id)) throw new Error('a target of the captured step has been disposed of');
      // Values kept on the CPU are no longer those of the buffer.
      Object.assign(tensorMap.get(id), { values: null });
    }
    this.#runtime.flush();
    const { pacing } = this.#runtime;
    const recorder = new PassRecorder(this.#runtime.device);
    for (const launch of this.#prepared) {
      const { flops, workgroups, kernel } = launch;
      const parts = kernel ? pacing.parts(flops, workgroups) : 1;
      if (!recorder.empty && recorder.flops + flops / parts > pacing.flopsPerSubmit) recorder.submit();
      if (parts === 1 || !kernel) {
        recorder.dispatch(launch, launch.span, launch.dispatch, flops);
        continue;
      }
      // Longer than one submit may take: its workgroups go in several, one after another.
      const each = Math.ceil(workgroups / parts);
      for (let start = 0; start < workgroups; start += each) {
        if (start > 0) recorder.submit();
        const end = Math.min(start + each, workgroups);
        const span = this.#runtime.span(kernel, start, end);
        recorder.dispatch(launch, span, [...grid(end - start), 1], flops / parts);
      }
    }
    recorder.submit();
  }

  dispose(): void {
    if (this.#disposed) return;
    this.#disposed = true;
    for (const slot of this.#slots) slot.destroy();
    this.#trace.release();
  }
}

async function build(runtime: KernelRuntime, step: StepDescription, recorded: Trace): Promise<CapturedStep> {
  const { launches, bytes, constants, results } = recorded;
  if (results.length !== step.targets.length) {
    throw new Error(`the step returns ${results.length} results for ${step.targets.length} targets`);
  }
  const sinks = step.targets.map(({ tensor, add }, i): Sink => {
    const { id: result, dtype } = results[i] as Trace['results'][number];
    if (bytes.get(result) !== 4 * tensor.size) {
      throw new Error(`result ${i} of the step has another size than its target`);
    }
    if (dtype !== tensor.dtype || (add && dtype !== 'float32')) {
      throw new Error(
        `result ${i} of the step is ${dtype}: ${add ? 'sums are float32' : `its target is ${tensor.dtype}`}`,
      );
    }
    bytes.set(tensor.dataId, 4 * tensor.size);
    return { result, target: tensor.dataId, add };
  });
  const outside = new Map<BufferId, tf.Tensor>(constants);
  for (const tensor of step.inputs) outside.set(tensor.dataId, tensor);
  sinks.forEach(({ target }, i) => {
    if (outside.has(target)) throw new Error(`target ${i} of the step is one of the tensors that it reads`);
    if (sinks.findIndex((sink) => sink.target === target) < i) {
      throw new Error(`target ${i} of the step is the target of another result as well`);
    }
  });
  const folded = foldLaunches(launches, sinks, new Set(outside.keys()), bytes);
  for (const { tensor } of step.targets) outside.set(tensor.dataId, tensor);
  const pipelines = await compile(runtime, folded);
  runtime.flush();
  const { slots, bufferOf } = allocate(runtime, folded, outside, bytes);
  const prepared = folded.map((launch, index): Prepared => {
    const pipeline = pipelines[index] as GPUComputePipeline;
    const resource = (id: BufferId): GPUBindingResource => ({
      buffer: bufferOf(id),
      offset: 0,
      size: bytes.get(id) as number,
    });
    const order = launch.kernel
      ? [...launch.inputs, ...launch.outputs].map(resource)
      : [
          ...[...launch.outputs, ...launch.inputs].map(resource),
          { buffer: launch.uniforms, offset: 0, size: launch.uniformBytes },
        ];
    const entries = order.map((binding, at) => ({ binding: at, resource: binding }));
    const layout = launch.kernel ? runtime.layout(launch.kernel) : pipeline.getBindGroupLayout(0);
    const workgroups = launch.kernel?.workgroups ?? 0;
    return {
      pipeline,
      bindGroup: runtime.device.createBindGroup({ layout, entries }),
      kernel: launch.kernel,
      span: launch.kernel ? runtime.span(launch.kernel) : null,
      workgroups,
      dispatch: launch.kernel ? [...grid(workgroups), 1] : launch.dispatch,
      flops: launch.kernel ? launch.kernel.flops : launch.flops,
    };
  });
  return CapturedStep.assemble(
    runtime,
    prepared,
    slots,
    recorded,
    sinks.map(({ target }) => target),
  );
}

interface StockPipelines {
  checkCompileCompletionAsync(): Promise<void>;
  pipelineCache: Record<string, GPUComputePipeline>;
}

function stockPipelines(runtime: KernelRuntime): StockPipelines {
  return runtime.backend as unknown as StockPipelines;
}

/** All pipelines at once, beside this thread. */
async function compile(runtime: KernelRuntime, launches: readonly Launch[]): Promise<GPUComputePipeline[]> {
  const stock = stockPipelines(runtime);
  await Promise.all([
    stock.checkCompileCompletionAsync(),
    ...launches.flatMap(({ kernel }) => (kernel ? [runtime.prepare(kernel)] : [])),
  ]);
  return launches.map((launch) =>
    launch.kernel
      ? runtime.pipeline(launch.kernel)
      : (stock.pipelineCache[launch.shaderKey] as GPUComputePipeline),
  );
}

function allocate(
  runtime: KernelRuntime,
  launches: readonly Launch[],
  outside: ReadonlyMap<BufferId, tf.Tensor>,
  bytes: ReadonlyMap<BufferId, number>,
): { slots: GPUBuffer[]; bufferOf: (id: BufferId) => GPUBuffer } {
  const spans = new Map<BufferId, { bytes: number; first: number; last: number }>();
  launches.forEach((launch, index) => {
    for (const id of [...launch.inputs, ...launch.outputs]) {
      if (outside.has(id)) continue;
      const span = spans.get(id);
      if (span) span.last = index;
      else spans.set(id, { bytes: bytes.get(id) ?? 0, first: index, last: index });
    }
  });
  const ids = [...spans.keys()];
  const arena = planArena([...spans.values()] satisfies Lifetime[]);
  const slots = arena.slots.map((size) =>
    runtime.device.createBuffer({
      size,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
    }),
  );
  const own = new Map(ids.map((id, index) => [id, slots[arena.slotOf[index] as number] as GPUBuffer]));
  return { slots, bufferOf: (id) => own.get(id) ?? runtime.buffer(id) };
}
