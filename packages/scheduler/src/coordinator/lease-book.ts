/**
 * The leases that are live, and the fence: lease numbers strictly grow, so a number that is not live is of the past.
 * Lately counted numbers are remembered, to tell a repeat from a late copy.
 */
import type { LeasedTask } from './types.ts';

export interface LiveLease {
  task: LeasedTask;
  worker: string;
  leasedAt: number;
  deadline: number;
  /** Progress does not renew beyond this. */
  hardDeadline: number;
  /** Whether the worker has reported any progress. */
  progressed: boolean;
  /** When its contribution was accepted for taking in; from then on only the driver's report ends the lease. */
  takenInAt: number | null;
}

const rememberedLeases = 1024;

export class LeaseBook {
  readonly #live = new Map<number, LiveLease>();
  readonly #counted = new Set<number>();
  #next: number;

  constructor(firstLease: number) {
    this.#next = firstLease;
  }

  /** @param hardMilliseconds how long the lease lasts at most, whatever the progress. */
  open(worker: string, task: Omit<LeasedTask, 'lease'>, hardMilliseconds: number, now: number): LeasedTask {
    const numbered: LeasedTask = { lease: this.#next++, ...task };
    this.#live.set(numbered.lease, {
      task: numbered,
      worker,
      leasedAt: now,
      deadline: now + task.leaseMilliseconds,
      hardDeadline: now + hardMilliseconds,
      progressed: false,
      takenInAt: null,
    });
    return numbered;
  }

  get(number: number): LiveLease | undefined {
    return this.#live.get(number);
  }

  /** The lease, when it is live and this worker's. */
  heldBy(worker: string, number: number): LiveLease | undefined {
    const lease = this.#live.get(number);
    return lease?.worker === worker ? lease : undefined;
  }

  /** Progress: the lease lasts as long again from now, up to its hard limit. */
  renew(lease: LiveLease, now: number): void {
    lease.progressed = true;
    lease.deadline = Math.min(lease.hardDeadline, now + lease.task.leaseMilliseconds);
  }

  end(number: number): void {
    this.#live.delete(number);
  }

  /** Ends a lease whose contribution has been counted. */
  endCounted(number: number): void {
    this.end(number);
    this.#counted.add(number);
    for (const oldest of this.#counted) {
      if (this.#counted.size <= rememberedLeases) break;
      this.#counted.delete(oldest);
    }
  }

  wasCounted(number: number): boolean {
    return this.#counted.has(number);
  }

  expired(now: number): LiveLease[] {
    return [...this.#live.values()].filter((lease) => lease.takenInAt === null && lease.deadline <= now);
  }

  /** Infinity when nothing can expire. */
  earliestDeadline(): number {
    let earliest = Infinity;
    for (const lease of this.#live.values()) {
      if (lease.takenInAt === null) earliest = Math.min(earliest, lease.deadline);
    }
    return earliest;
  }
}
