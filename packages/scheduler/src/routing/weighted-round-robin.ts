/**
 * Interleaved weighted round robin. Helix (ASPLOS'25) picks argmin of load + size / weight and adds size / weight to
 * the load; alone, that gives a worker of large weight its whole round in one burst (of half the weight among fifty
 * small ones, the first fifty micro-batches). Hence a worker also has to be due: its load must not be above the mean
 * load of the stage, as in WF2Q (Bennett and Zhang, INFOCOM'96), which keeps every worker within one micro-batch of
 * its share at all times.
 *
 * A worker's load is one number over all stages that it holds, so that where ranges overlap in part the micro-batches
 * that enter it at one stage count at the others.
 */
import { checkHolding } from './check.ts';
import { ReplicaQueue } from './replica-queue.ts';
import type { Replica } from './replica-queue.ts';
import type { PickRequest, RoutedHolding, Router } from './router.ts';

interface Loaded extends Replica {
  /** Seconds of planned work that it was given. */
  load: number;
}

interface Stage {
  members: number;
  /** Sum of the members' weights, and of weight * load. */
  weight: number;
  work: number;
  /** Due, by load + 1 / weight. */
  due: ReplicaQueue<Loaded>;
  /** Ahead of the others, by load. */
  ahead: ReplicaQueue<Loaded>;
}

/** Sums of loads differ in their last places. */
const tolerance = 1e-9;

export class WeightedRoundRobinRouter implements Router {
  readonly #replicas = new Map<string, Loaded>();
  readonly #stages: Stage[] = [];

  add(worker: string, holding: RoutedHolding): void {
    checkHolding(worker, holding);
    const bannedUntil = this.#replicas.get(worker)?.bannedUntil ?? 0;
    this.remove(worker);
    let load = 0;
    for (let stage = holding.from; stage < holding.to; stage++)
      load = Math.max(load, meanLoad(this.#stage(stage)));
    const replica: Loaded = { worker, ...holding, load, bannedUntil, version: 0 };
    this.#replicas.set(worker, replica);
    for (let stage = holding.from; stage < holding.to; stage++) {
      const at = this.#stage(stage);
      at.members++;
      at.weight += replica.weight;
      at.work += replica.weight * replica.load;
      at.ahead.push(replica, replica.load);
    }
  }

  remove(worker: string): void {
    const replica = this.#replicas.get(worker);
    if (replica === undefined) return;
    replica.version = -1;
    this.#replicas.delete(worker);
    for (let stage = replica.from; stage < replica.to; stage++) {
      const at = this.#stage(stage);
      at.members--;
      at.weight = at.members === 0 ? 0 : at.weight - replica.weight;
      at.work = at.members === 0 ? 0 : at.work - replica.weight * replica.load;
      tidy(at);
    }
  }

  pick(stage: number, { now = 0, size = 1, allowed }: PickRequest = {}): string | null {
    const at = this.#stages[stage];
    if (at === undefined || at.members === 0) return null;
    const mean = meanLoad(at);
    while (at.ahead.firstKey() <= mean + tolerance * (1 + mean)) {
      const replica = at.ahead.take()!;
      at.due.push(replica, replica.load + 1 / replica.weight);
    }
    const wanted = (replica: Loaded): boolean =>
      replica.bannedUntil <= now && (allowed === undefined || allowed(replica.worker));
    const replica = at.due.first(wanted) ?? at.ahead.first(wanted);
    if (replica === null) return null;
    this.#charge(replica, size);
    return replica.worker;
  }

  /** Nothing: weights are planned. */
  observe(): void {}

  ban(worker: string, until: number): void {
    const replica = this.#replicas.get(worker);
    if (replica !== undefined) replica.bannedUntil = until;
  }

  #charge(replica: Loaded, size: number): void {
    replica.load += size / replica.weight;
    replica.version++;
    for (let stage = replica.from; stage < replica.to; stage++) {
      const at = this.#stage(stage);
      at.work += size;
      at.ahead.push(replica, replica.load);
      tidy(at);
    }
  }

  #stage(stage: number): Stage {
    while (this.#stages.length <= stage)
      this.#stages.push({
        members: 0,
        weight: 0,
        work: 0,
        due: new ReplicaQueue(),
        ahead: new ReplicaQueue(),
      });
    return this.#stages[stage]!;
  }
}

function meanLoad({ work, weight }: Stage): number {
  return weight > 0 ? work / weight : 0;
}

function tidy({ due, ahead, members }: Stage): void {
  due.tidy(members);
  ahead.tidy(members);
}
