import type { Worker } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { columns, nextOrder, sortWorkers } from './sort-workers.ts';

const workers = [
  { id: 'aaaa1', name: 'Zoe', stepMilliseconds: 200, share: 0.5 },
  { id: 'bbbb1', name: '', stepMilliseconds: null, share: 0 },
  { id: 'cccc1', name: 'bert', stepMilliseconds: 90, share: 0.5 },
] as Worker[];
const ids = (order: { key: string; descending: boolean }): string[] =>
  sortWorkers(workers, order).map(({ id }) => id.slice(0, 1));

test('a value that is not known goes last in both directions', () => {
  expect(ids({ key: 'step', descending: false })).toEqual(['c', 'a', 'b']);
  expect(ids({ key: 'step', descending: true })).toEqual(['a', 'c', 'b']);
});

test('names ignore case; an anonymous one sorts by what is shown', () => {
  expect(ids({ key: 'name', descending: false })).toEqual(['b', 'c', 'a']);
});

test('equal values keep the order of joining', () => {
  expect(ids({ key: 'share', descending: true })).toEqual(['a', 'c', 'b']);
});

test('a numeric heading begins with the largest and turns round', () => {
  const share = columns.find(({ key }) => key === 'share')!;
  const first = nextOrder({ key: 'name', descending: false }, share);
  expect(first).toEqual({ key: 'share', descending: true });
  expect(nextOrder(first, share)).toEqual({ key: 'share', descending: false });
});
