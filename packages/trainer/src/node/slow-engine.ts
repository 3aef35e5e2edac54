/** An engine made slower by a factor, so that uneven workers can be tried out on one machine. */
import type { Encoding } from '@tabweave/shared';
import type { EncodedSum, Engine, EngineError, GradientSum, LoadedModel } from '../engine/engine.ts';

export class SlowEngine implements Engine {
  readonly #engine: Engine;
  readonly #factor: number;

  /** @param factor each pass takes this many times as long; at least 1. */
  constructor(engine: Engine, factor: number) {
    this.#engine = engine;
    this.#factor = factor;
  }

  get report(): Engine['report'] {
    return this.#engine.report;
  }

  get lost(): Promise<EngineError> {
    return this.#engine.lost;
  }

  get cold(): boolean {
    return this.#engine.cold;
  }

  testKernels(): ReturnType<Engine['testKernels']> {
    return this.#engine.testKernels();
  }

  measure(): ReturnType<Engine['measure']> {
    return this.#engine.measure();
  }

  prepare(model: LoadedModel, samples: number): Promise<void> {
    return this.#engine.prepare(model, samples);
  }

  load(model: LoadedModel, parameters: Float32Array): Promise<void> {
    return this.#engine.load(model, parameters);
  }

  begin(): void {
    this.#engine.begin();
  }

  accumulate(tokens: Int32Array, samples: number): Promise<void> {
    return this.#slowly(() => this.#engine.accumulate(tokens, samples));
  }

  finish(): Promise<GradientSum> {
    return this.#engine.finish();
  }

  finishEncoded(model: string, encoding: Encoding): Promise<EncodedSum> {
    return this.#engine.finishEncoded(model, encoding);
  }

  evaluate(tokens: Int32Array, samples: number): Promise<number> {
    return this.#slowly(() => this.#engine.evaluate(tokens, samples));
  }

  logits(ids: Int32Array): Promise<Float32Array> {
    return this.#engine.logits(ids);
  }

  memoryBytes(): number {
    return this.#engine.memoryBytes();
  }

  dispose(): void {
    this.#engine.dispose();
  }

  async #slowly<T>(pass: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await pass();
    const rest = (performance.now() - began) * (this.#factor - 1);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
    return result;
  }
}
