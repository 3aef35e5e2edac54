/** A binary heap of items by key, least first; of equal keys, the one with the lower `tie`. */
export interface HeapEntry<T> {
  key: number;
  tie: number;
  item: T;
}

export class KeyedHeap<T> {
  #entries: HeapEntry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  peek(): HeapEntry<T> | undefined {
    return this.#entries[0];
  }

  push(entry: HeapEntry<T>): void {
    const entries = this.#entries;
    let at = entries.length;
    entries.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(entry, entries[parent]!)) break;
      entries[at] = entries[parent]!;
      at = parent;
    }
    entries[at] = entry;
  }

  pop(): HeapEntry<T> | undefined {
    const entries = this.#entries;
    const first = entries[0];
    const moved = entries.pop();
    if (moved === undefined || entries.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && before(entries[child + 1]!, entries[child]!)) child++;
      if (!before(entries[child]!, moved)) break;
      entries[at] = entries[child]!;
      at = child;
    }
    entries[at] = moved;
    return first;
  }

  /** Drops the entries that are not wanted, in O(size). */
  keep(wanted: (entry: HeapEntry<T>) => boolean): void {
    const kept = this.#entries.filter(wanted);
    this.#entries = [];
    for (const entry of kept) this.push(entry);
  }
}

function before<T>(a: HeapEntry<T>, b: HeapEntry<T>): boolean {
  return a.key < b.key || (a.key === b.key && a.tie < b.tie);
}
