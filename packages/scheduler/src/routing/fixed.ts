/** Fixed pipelines: micro-batch m goes over pipeline m modulo their number, stage by stage. */
import type { PickRequest, RoutedHolding, Router } from './router.ts';
import { checkHolding } from './check.ts';

export class FixedRouter implements Router {
  readonly #pipelines: readonly (readonly string[])[];
  readonly #present = new Map<string, RoutedHolding>();
  readonly #bannedUntil = new Map<string, number>();

  /** @param pipelines the workers of each, by stage. @throws RangeError where there is none. */
  constructor(pipelines: readonly (readonly string[])[]) {
    if (pipelines.length === 0) throw new RangeError('Fixed routing needs one pipeline or more');
    this.#pipelines = pipelines;
  }

  add(worker: string, holding: RoutedHolding): void {
    checkHolding(worker, holding);
    this.#present.set(worker, holding);
  }

  remove(worker: string): void {
    this.#present.delete(worker);
    this.#bannedUntil.delete(worker);
  }

  /** The worker of the micro-batch's pipeline or none: there is no other way. */
  pick(stage: number, { now = 0, allowed, microBatch = 0 }: PickRequest = {}): string | null {
    const worker = this.#pipelines[microBatch % this.#pipelines.length]![stage];
    if (worker === undefined) return null;
    const holding = this.#present.get(worker);
    if (holding === undefined || stage < holding.from || stage >= holding.to) return null;
    if ((this.#bannedUntil.get(worker) ?? 0) > now || (allowed !== undefined && !allowed(worker)))
      return null;
    return worker;
  }

  observe(): void {}

  ban(worker: string, until: number): void {
    this.#bannedUntil.set(worker, until);
  }
}
