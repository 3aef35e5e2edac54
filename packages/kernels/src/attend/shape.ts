/** How queries, keys and values lie in memory. */

export interface AttentionShape {
  readonly samples: number;
  readonly tokens: number;
  readonly heads: number;
  /** Divides `heads`; each key head serves as many query heads (grouped queries, arXiv 2305.13245). */
  readonly keyValueHeads: number;
  /** A multiple of 4. */
  readonly headWidth: number;
}

/** Where the vectors of a token start and how far apart tokens are, in vec4. */
export interface Place {
  readonly stride: number;
  readonly offset: number;
}

/** Packed rows [samples x tokens, (heads + 2 x keyValueHeads) x headWidth]: queries, then keys, then values. */
export function packedPlaces(shape: AttentionShape): { q: Place; k: Place; v: Place } {
  const head = shape.headWidth / 4;
  const stride = (shape.heads + 2 * shape.keyValueHeads) * head;
  return {
    q: { stride, offset: 0 },
    k: { stride, offset: shape.heads * head },
    v: { stride, offset: (shape.heads + shape.keyValueHeads) * head },
  };
}

export function attentionKey(shape: AttentionShape): string {
  const { samples, tokens, heads, keyValueHeads, headWidth } = shape;
  return `${samples}x${tokens} ${heads}/${keyValueHeads}x${headWidth}`;
}

/** Floating-point operations of one product of all queries with the keys they see. */
export function productFlops({ samples, tokens, heads, headWidth }: AttentionShape): number {
  return samples * heads * tokens * (tokens + 1) * headWidth;
}
