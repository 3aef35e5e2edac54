/**
 * Which buffers of a step may share memory: greedy by size, each in the first slot that is free for as long as it lives
 * (Pisarchyk and Lee, arXiv 2001.03288, "shared objects, greedy by size"). Slots are whole GPU buffers, since WebGPU
 * forbids reading one part of a buffer while another part of it is written.
 */

export interface Lifetime {
  readonly bytes: number;
  /** First and last launch that touch it. */
  readonly first: number;
  readonly last: number;
}

export interface Arena {
  /** Bytes of each slot. */
  readonly slots: number[];
  /** The slot of each lifetime. */
  readonly slotOf: number[];
}

export function planArena(lifetimes: readonly Lifetime[]): Arena {
  const slots: number[] = [];
  const held: Lifetime[][] = [];
  const slotOf = lifetimes.map(() => -1);
  const bySize = lifetimes.map((_, index) => index);
  bySize.sort((a, b) => bytesAt(b) - bytesAt(a) || a - b);
  for (const index of bySize) {
    const lifetime = lifetimes[index] as Lifetime;
    let slot = held.findIndex((others) => others.every((other) => apart(other, lifetime)));
    if (slot < 0) {
      slot = slots.push(lifetime.bytes) - 1;
      held.push([]);
    }
    held[slot]?.push(lifetime);
    slotOf[index] = slot;
  }
  return { slots, slotOf };

  function bytesAt(index: number): number {
    return (lifetimes[index] as Lifetime).bytes;
  }
}

function apart(a: Lifetime, b: Lifetime): boolean {
  return a.last < b.first || b.last < a.first;
}
