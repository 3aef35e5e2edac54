/** What is due at the present version: a training pool and an evaluation pool, and how much of each is accepted. */
import { SamplePool } from './sample-pool.ts';
import type { CoordinatorConfig, CoordinatorView, LeasedTask, TaskKind } from './types.ts';

export class OpenStep {
  readonly version: number;
  readonly due: Readonly<Record<TaskKind, number>>;
  readonly pools: Record<TaskKind, SamplePool>;
  /** The batch policy has sized the workers' shares; what is in the pool since then has come back to it. */
  planned = false;
  requeued = 0;
  refused = 0;
  readonly #done: Record<TaskKind, number> = { train: 0, evaluate: 0 };
  #evaluationTold = false;

  /** @param evaluated whether this version's evaluation is known already. */
  constructor(version: number, evaluated: boolean, config: CoordinatorConfig) {
    const { maxSteps, evaluateEvery, evaluationSamples, globalBatch } = config;
    const evaluationDue =
      !evaluated &&
      evaluateEvery > 0 &&
      version > 0 &&
      (version % evaluateEvery === 0 || version === maxSteps);
    this.version = version;
    this.due = {
      train: version < maxSteps ? globalBatch : 0,
      evaluate: evaluationDue ? evaluationSamples : 0,
    };
    this.pools = { train: new SamplePool(this.due.train), evaluate: new SamplePool(this.due.evaluate) };
  }

  get complete(): boolean {
    return this.#done.train >= this.due.train && this.#done.evaluate >= this.due.evaluate;
  }

  /** True once: when the last evaluation sample that was due has been accepted. */
  takeEvaluationComplete(): boolean {
    if (this.#evaluationTold || this.due.evaluate === 0 || this.#done.evaluate < this.due.evaluate)
      return false;
    this.#evaluationTold = true;
    return true;
  }

  accept(task: LeasedTask): void {
    this.#done[task.kind] += task.samples.end - task.samples.start;
  }

  putBack(task: LeasedTask): void {
    this.pools[task.kind].put(task.samples);
    this.requeued++;
  }

  samples(): CoordinatorView['samples'] {
    const waiting = this.pools.train.size + this.pools.evaluate.size;
    const accepted = this.#done.train + this.#done.evaluate;
    return { waiting, leased: this.due.train + this.due.evaluate - waiting - accepted, accepted };
  }
}
