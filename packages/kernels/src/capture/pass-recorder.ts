/** Dispatches into one command buffer after another; state that is set already is not set again. */

export interface Dispatchable {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
}

export class PassRecorder {
  readonly #device: GPUDevice;
  #open: { encoder: GPUCommandEncoder; pass: GPUComputePassEncoder } | null = null;
  #pipeline: GPUComputePipeline | null = null;
  #span: GPUBindGroup | null = null;
  #flops = 0;

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  get empty(): boolean {
    return this.#open === null;
  }

  /** Of what has been dispatched since the last submit. */
  get flops(): number {
    return this.#flops;
  }

  dispatch(
    { pipeline, bindGroup }: Dispatchable,
    span: GPUBindGroup | null,
    workgroups: readonly [number, number, number],
    flops: number,
  ): void {
    const { pass } = (this.#open ??= this.#begin());
    if (pipeline !== this.#pipeline) pass.setPipeline(pipeline);
    this.#pipeline = pipeline;
    if (span && span !== this.#span) {
      pass.setBindGroup(1, span);
      this.#span = span;
    }
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(...workgroups);
    this.#flops += flops;
  }

  submit(): void {
    if (!this.#open) return;
    this.#open.pass.end();
    this.#device.queue.submit([this.#open.encoder.finish()]);
    this.#open = null;
    this.#pipeline = null;
    this.#span = null;
    this.#flops = 0;
  }

  #begin(): { encoder: GPUCommandEncoder; pass: GPUComputePassEncoder } {
    const encoder = this.#device.createCommandEncoder();
    return { encoder, pass: encoder.beginComputePass() };
  }
}
