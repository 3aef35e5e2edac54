/**
 * Earliest expected finish: each micro-batch goes to the worker that would be done with it first, given what it still
 * has to do. Times are expected from the plan's weight until tasks were measured.
 *
 * Idle workers are kept by the time of a task, busy ones by when they would finish one more: whichever is first of
 * the two is the earliest of all, in O(log n). The comparison is for a micro-batch of the usual size.
 */
import { checkHolding } from './check.ts';
import { ReplicaQueue } from './replica-queue.ts';
import type { Replica } from './replica-queue.ts';
import type { PickRequest, RoutedHolding, Router } from './router.ts';
import { TaskTime } from './task-time.ts';

interface Timed extends Replica {
  time: TaskTime;
  /** When the work that it was given should be done. */
  freeAt: number;
  /** Tasks given and not yet observed. */
  tasks: number;
}

interface Stage {
  members: number;
  /** By the time of one task. */
  idle: ReplicaQueue<Timed>;
  /** By when the work is done: who comes first becomes idle first. */
  busy: ReplicaQueue<Timed>;
  /** By when one more task would be done. */
  next: ReplicaQueue<Timed>;
}

export class EarliestFinishRouter implements Router {
  readonly #replicas = new Map<string, Timed>();
  readonly #stages: Stage[] = [];

  add(worker: string, holding: RoutedHolding): void {
    checkHolding(worker, holding);
    const before = this.#replicas.get(worker);
    this.remove(worker);
    const replica: Timed = {
      worker,
      ...holding,
      // Another range takes another time.
      time: before !== undefined && sameStages(before, holding) ? before.time : new TaskTime(),
      freeAt: before?.freeAt ?? -Infinity,
      tasks: before?.tasks ?? 0,
      bannedUntil: before?.bannedUntil ?? 0,
      version: 0,
    };
    this.#replicas.set(worker, replica);
    for (let stage = holding.from; stage < holding.to; stage++) this.#stage(stage).members++;
    this.#push(replica);
  }

  remove(worker: string): void {
    const replica = this.#replicas.get(worker);
    if (replica === undefined) return;
    replica.version = -1;
    this.#replicas.delete(worker);
    for (let stage = replica.from; stage < replica.to; stage++) this.#stage(stage).members--;
  }

  pick(stage: number, { now = 0, size = 1, allowed }: PickRequest = {}): string | null {
    const at = this.#stages[stage];
    if (at === undefined || at.members === 0) return null;
    while (at.busy.firstKey() <= now) {
      const replica = at.busy.take()!;
      at.idle.push(replica, milliseconds(replica));
    }
    const wanted = ({ bannedUntil, worker }: Timed): boolean =>
      bannedUntil <= now && (allowed === undefined || allowed(worker));
    // The idle ones are in `idle`; the clock does not go back.
    while ((at.next.firstReplica()?.freeAt ?? Infinity) <= now) at.next.take();
    const idle = at.idle.first(wanted);
    const busy = at.next.first((replica) => replica.freeAt > now && wanted(replica));
    const replica = idle !== null && (busy === null || finish(idle, now) <= finish(busy, now)) ? idle : busy;
    if (replica === null) return null;
    replica.freeAt = Math.max(now, replica.freeAt) + size * milliseconds(replica);
    replica.tasks++;
    replica.version++;
    this.#push(replica);
    return replica.worker;
  }

  /** @param request with `now`, what is left is expected to take its time from then on. */
  observe(
    worker: string,
    taskMilliseconds: number,
    { now, size = 1 }: Pick<PickRequest, 'now' | 'size'> = {},
  ): void {
    const replica = this.#replicas.get(worker);
    if (replica === undefined) return;
    replica.time.observe(taskMilliseconds / size);
    replica.tasks = Math.max(0, replica.tasks - 1);
    if (now !== undefined) replica.freeAt = now + replica.tasks * milliseconds(replica);
    replica.version++;
    this.#push(replica);
  }

  ban(worker: string, until: number): void {
    const replica = this.#replicas.get(worker);
    if (replica !== undefined) replica.bannedUntil = until;
  }

  #push(replica: Timed): void {
    for (let stage = replica.from; stage < replica.to; stage++) {
      const at = this.#stage(stage);
      at.busy.push(replica, replica.freeAt);
      at.next.push(replica, replica.freeAt + milliseconds(replica));
      for (const queue of [at.idle, at.busy, at.next]) queue.tidy(at.members);
    }
  }

  #stage(stage: number): Stage {
    while (this.#stages.length <= stage)
      this.#stages.push({
        members: 0,
        idle: new ReplicaQueue(),
        busy: new ReplicaQueue(),
        next: new ReplicaQueue(),
      });
    return this.#stages[stage]!;
  }
}

/** Of one task of the usual size. */
function milliseconds({ time, weight }: Timed): number {
  return time.mean ?? 1000 / weight;
}

function finish(replica: Timed, now: number): number {
  return Math.max(now, replica.freeAt) + milliseconds(replica);
}

function sameStages(a: { from: number; to: number }, b: { from: number; to: number }): boolean {
  return a.from === b.from && a.to === b.to;
}
