import fc from 'fast-check';
import { expect, it } from 'vitest';
import { KeyedHeap } from './keyed-heap.ts';

it('gives the entries by key, then tie', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ key: fc.nat(9), tie: fc.nat(99) })), fc.nat(9), (entries, above) => {
      const heap = new KeyedHeap<number>();
      entries.forEach((entry, item) => heap.push({ ...entry, item }));
      heap.keep(({ key }) => key >= above);
      const expected = entries
        .filter(({ key }) => key >= above)
        .sort((a, b) => a.key - b.key || a.tie - b.tie)
        .map(({ key, tie }) => [key, tie]);
      expect(heap.size).toBe(expected.length);
      const given = expected.map(() => heap.pop()!).map(({ key, tie }) => [key, tie]);
      expect(given).toEqual(expected);
      expect(heap.pop()).toBeUndefined();
    }),
  );
});
