/**
 * Replicas of one stage in order of a key that changes from time to time. A change pushes a new entry; entries of an
 * older version are passed over when they come up, and cleared when they are more than half.
 */
import { KeyedHeap } from './keyed-heap.ts';
import type { HeapEntry } from './keyed-heap.ts';

/** What routers keep of a worker; `version` grows with every change of its keys, and -1 means that it is gone. */
export interface Replica {
  worker: string;
  from: number;
  to: number;
  weight: number;
  bannedUntil: number;
  version: number;
}

interface Versioned<R> {
  replica: R;
  version: number;
}

export class ReplicaQueue<R extends Replica> {
  readonly #heap = new KeyedHeap<Versioned<R>>();
  #ties = 0;

  /** @param tie of equal keys the lower goes first; in order of insertion unless given. */
  push(replica: R, key: number, tie = this.#ties++): void {
    this.#heap.push({ key, tie, item: { replica, version: replica.version } });
  }

  /** Clears entries that are out of date where they are more than half. @param live replicas that may be in here. */
  tidy(live: number): void {
    if (this.#heap.size > 2 * live + 32) this.#heap.keep(({ item }) => isLive(item));
  }

  /** Key of the first entry that is up to date; Infinity where there is none. */
  firstKey(): number {
    for (;;) {
      const first = this.#heap.peek();
      if (first === undefined) return Infinity;
      if (isLive(first.item)) return first.key;
      this.#heap.pop();
    }
  }

  firstReplica(): R | null {
    this.firstKey();
    return this.#heap.peek()?.item.replica ?? null;
  }

  /** Takes the first replica out, if there is one. */
  take(): R | null {
    this.firstKey();
    return this.#heap.pop()?.item.replica ?? null;
  }

  /** The first replica that is wanted; it and those before it stay in. O(log n) for each that is passed over. */
  first(wanted: (replica: R) => boolean): R | null {
    const passed: HeapEntry<Versioned<R>>[] = [];
    let found: R | null = null;
    while (this.firstKey() < Infinity) {
      const entry = this.#heap.peek()!;
      if (wanted(entry.item.replica)) {
        found = entry.item.replica;
        break;
      }
      passed.push(this.#heap.pop()!);
    }
    for (const entry of passed) this.#heap.push(entry);
    return found;
  }
}

function isLive<R extends Replica>({ replica, version }: Versioned<R>): boolean {
  return replica.version === version;
}
