/** Seeded randomness without state in the platform: a 32-bit mixer and a small generator (sfc32). */

/** A well-mixed 32-bit hash of up to four integers (murmur3 finaliser over a running combination). */
export function mix32(...parts: number[]): number {
  let h = 0x9e3779b9;
  for (const part of parts) {
    h = Math.imul(h ^ (part >>> 0), 0x85ebca6b);
    h ^= h >>> 13;
    h = Math.imul(h, 0xc2b2ae35);
    h ^= h >>> 16;
    // Seeds may exceed 32 bits: fold the high part in as well.
    h = Math.imul(h ^ Math.floor(part / 0x1_0000_0000), 0x27d4eb2f) >>> 0;
  }
  return h >>> 0;
}

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare: number | undefined;

  constructor(seed: number) {
    this.#a = mix32(seed, 1);
    this.#b = mix32(seed, 2);
    this.#c = mix32(seed, 3);
    for (let i = 0; i < 12; i++) this.uint32();
  }

  /** Uniform integer in [0, 2^32): sfc32 (Chris Doty-Humphrey, PractRand). */
  uint32(): number {
    const t = (this.#a + this.#b + this.#counter) >>> 0;
    this.#counter = (this.#counter + 1) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + t) >>> 0;
    return t;
  }

  /** Uniform in [0, 1). */
  uniform(): number {
    return this.uint32() / 0x1_0000_0000;
  }

  /** Uniform integer in [0, bound). */
  below(bound: number): number {
    return Math.floor(this.uniform() * bound);
  }

  /** Standard normal (Box and Muller, both values used). */
  normal(): number {
    if (this.#spare !== undefined) {
      const value = this.#spare;
      this.#spare = undefined;
      return value;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}
