/**
 * SWARM's stochastic wiring (Ryabinin et al., ICML'23; balancer of its code): per stage a heap of (virtual time,
 * random number, worker); the least is picked and its virtual time grows by the time expected of the task. A worker
 * that was never measured is taken to need one second, and a new one starts at the least virtual time there is, so
 * that it is tried at once.
 */
import type { Random } from '@tabweave/shared';
import { checkHolding } from './check.ts';
import { ReplicaQueue } from './replica-queue.ts';
import type { Replica } from './replica-queue.ts';
import type { PickRequest, RoutedHolding, Router } from './router.ts';
import { TaskTime } from './task-time.ts';

interface Wired extends Replica {
  virtualTime: number;
  time: TaskTime;
}

/** Work of a backward task in forward tasks, by which SWARM charges it. */
export const backwardSize = 2.5;

const unmeasuredMilliseconds = 1000;

export class StochasticRouter implements Router {
  readonly #random: Random;
  readonly #replicas = new Map<string, Wired>();
  readonly #stages: { queue: ReplicaQueue<Wired>; members: number }[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(worker: string, holding: RoutedHolding): void {
    checkHolding(worker, holding);
    const before = this.#replicas.get(worker);
    this.remove(worker);
    let virtualTime = Infinity;
    for (let stage = holding.from; stage < holding.to; stage++)
      virtualTime = Math.min(virtualTime, this.#stage(stage).queue.firstKey());
    const replica: Wired = {
      worker,
      ...holding,
      virtualTime: virtualTime === Infinity ? 0 : virtualTime,
      time: before?.time ?? new TaskTime(),
      bannedUntil: before?.bannedUntil ?? 0,
      version: 0,
    };
    this.#replicas.set(worker, replica);
    this.#push(replica, 1);
  }

  remove(worker: string): void {
    const replica = this.#replicas.get(worker);
    if (replica === undefined) return;
    replica.version = -1;
    this.#replicas.delete(worker);
    for (let stage = replica.from; stage < replica.to; stage++) this.#stage(stage).members--;
  }

  pick(stage: number, { now = 0, size = 1, allowed }: PickRequest = {}): string | null {
    const replica = this.#stages[stage]?.queue.first(
      ({ bannedUntil, worker }) => bannedUntil <= now && (allowed === undefined || allowed(worker)),
    );
    if (replica == null) return null;
    replica.virtualTime += size * (replica.time.mean ?? unmeasuredMilliseconds);
    replica.version++;
    this.#push(replica, 0);
    return replica.worker;
  }

  observe(worker: string, taskMilliseconds: number, { size = 1 }: Pick<PickRequest, 'size'> = {}): void {
    this.#replicas.get(worker)?.time.observe(taskMilliseconds / size);
  }

  ban(worker: string, until: number): void {
    const replica = this.#replicas.get(worker);
    if (replica !== undefined) replica.bannedUntil = until;
  }

  #push(replica: Wired, joining: 0 | 1): void {
    for (let stage = replica.from; stage < replica.to; stage++) {
      const at = this.#stage(stage);
      at.members += joining;
      at.queue.push(replica, replica.virtualTime, this.#random.uniform());
      at.queue.tidy(at.members);
    }
  }

  #stage(stage: number): { queue: ReplicaQueue<Wired>; members: number } {
    while (this.#stages.length <= stage) this.#stages.push({ queue: new ReplicaQueue(), members: 0 });
    return this.#stages[stage]!;
  }
}
