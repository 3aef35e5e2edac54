/**
 * Code over the vec4 of one head: written out, which keeps them in registers, or as loops over arrays, which a software
 * adapter compiles several times faster.
 */
import { count } from '../matmul/fragments.ts';

export class HeadVectors {
  readonly #vectors: number;
  readonly #loops: boolean;

  constructor(vectors: number, loops: boolean) {
    this.#vectors = vectors;
    this.#loops = loops;
  }

  get key(): string {
    return this.#loops ? 'loops' : 'registers';
  }

  /** The vector of `name` at index `d`. */
  at(name: string, d: string): string {
    return this.#loops ? `${name}[${d}]` : `${name}${d}`;
  }

  declare(name: string, value: (d: string) => string): string {
    if (this.#loops) {
      return `var ${name} : array<vec4<f32>, ${this.#vectors}>;
  ${this.each((d) => `${name}[${d}] = ${value(d)};`)}`;
    }
    return count(this.#vectors)
      .map((d) => `var ${name}${d} = ${value(String(d))};`)
      .join(' ');
  }

  each(statement: (d: string) => string): string {
    if (this.#loops) return `for (var d = 0u; d < ${this.#vectors}u; d++) { ${statement('d')} }`;
    return count(this.#vectors)
      .map((d) => statement(String(d)))
      .join(' ');
  }

  /** Declares `name` as the sum of the dot products of `a` and `b`. */
  dot(name: string, a: (d: string) => string, b: (d: string) => string): string {
    if (this.#loops) {
      return `var ${name} = 0.0f; ${this.each((d) => `${name} += dot(${a(d)}, ${b(d)});`)}`;
    }
    return `let ${name} = ${count(this.#vectors)
      .map((d) => `dot(${a(String(d))}, ${b(String(d))})`)
      .join(' + ')};`;
  }
}
