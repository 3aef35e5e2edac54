/** @returns the items beginning at the `turn`-th, going round. */
export function rotated<T>(items: readonly T[], turn: number): T[] {
  if (items.length === 0) return [];
  const start = turn % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
