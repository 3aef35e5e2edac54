/** Data shards kept in memory between tasks: the least recently used go when the bound is reached. */
export class ShardCache {
  readonly #capacity: number;
  /** In order of use, oldest first. */
  readonly #shards = new Map<string, Uint8Array<ArrayBuffer>>();
  #bytes = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The shard of that hash, from memory or else from `load`. A shard larger than the bound is not kept. */
  async get(hash: string, load: () => Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> {
    const shard = this.#shards.get(hash) ?? (await load());
    this.#forget(hash);
    if (shard.byteLength > this.#capacity) return shard;
    this.#shards.set(hash, shard);
    this.#bytes += shard.byteLength;
    for (const oldest of this.#shards.keys()) {
      if (this.#bytes <= this.#capacity) break;
      this.#forget(oldest);
    }
    return shard;
  }

  #forget(hash: string): void {
    const shard = this.#shards.get(hash);
    if (!shard) return;
    this.#shards.delete(hash);
    this.#bytes -= shard.byteLength;
  }
}
