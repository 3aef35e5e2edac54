/** A bare WebGPU device: pipelines, buffers and timed launches, nothing between. */

export class RawDevice {
  readonly device: GPUDevice;
  readonly #failures: string[] = [];

  private constructor(device: GPUDevice) {
    this.device = device;
    device.addEventListener('uncapturederror', (event) => this.#failures.push(event.error.message));
  }

  static async open(): Promise<RawDevice> {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
    if (!adapter) throw new Error('WebGPU finds no adapter');
    const { maxBufferSize, maxStorageBufferBindingSize } = adapter.limits;
    const { maxComputeWorkgroupStorageSize, maxComputeInvocationsPerWorkgroup } = adapter.limits;
    const { maxComputeWorkgroupSizeX } = adapter.limits;
    const requiredLimits = {
      maxBufferSize,
      maxStorageBufferBindingSize,
      maxComputeWorkgroupStorageSize,
      maxComputeInvocationsPerWorkgroup,
      maxComputeWorkgroupSizeX,
    };
    return new RawDevice(await adapter.requestDevice({ requiredLimits }));
  }

  buffer(values: Float32Array<ArrayBuffer> | number): GPUBuffer {
    const size = typeof values === 'number' ? values : values.byteLength;
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    const buffer = this.device.createBuffer({ size, usage });
    if (typeof values !== 'number') this.device.queue.writeBuffer(buffer, 0, values);
    return buffer;
  }

  async pipeline(code: string): Promise<GPUComputePipeline> {
    const module = this.device.createShaderModule({ code });
    const { messages } = await module.getCompilationInfo();
    const wrong = messages.find(({ type }) => type === 'error');
    if (wrong) throw new Error(`the ceiling's shader, line ${wrong.lineNum}: ${wrong.message}`);
    return this.device.createComputePipelineAsync({
      layout: 'auto',
      compute: { module, entryPoint: 'main' },
    });
  }

  async read(buffer: GPUBuffer, count: number): Promise<Float32Array> {
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const staging = this.device.createBuffer({ size: 4 * count, usage });
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, staging, 0, 4 * count);
    this.device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const values = new Float32Array(staging.getMappedRange().slice(0));
    staging.destroy();
    return values;
  }

  /** Best seconds of one dispatch over a few batches that last about `seconds` each. */
  async seconds(
    pipeline: GPUComputePipeline,
    buffers: GPUBuffer[],
    groups: [number, number],
    seconds: number,
  ): Promise<number> {
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const bindGroup = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const batch = async (count: number): Promise<number> => {
      const started = performance.now();
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      for (let i = 0; i < count; i++) pass.dispatchWorkgroups(...groups);
      pass.end();
      this.device.queue.submit([encoder.finish()]);
      await this.device.queue.onSubmittedWorkDone();
      return (performance.now() - started) / 1000;
    };
    await batch(1);
    const once = await batch(1);
    const count = Math.min(1000, Math.max(1, Math.round(seconds / Math.max(once, 1e-5))));
    const times: number[] = [];
    for (let i = 0; i < 3; i++) times.push((await batch(count)) / count);
    this.throwFailures();
    return Math.min(...times);
  }

  throwFailures(): void {
    if (this.#failures.length > 0) throw new Error(this.#failures.join('; '));
  }
}
