import { expect, test } from 'vitest';
import { ShardCache } from './shard-cache.ts';

test('the least recently used shards make room, and the bound holds', async () => {
  const cache = new ShardCache(100);
  const loaded: string[] = [];
  const get = (hash: string, bytes = 40): Promise<Uint8Array> =>
    cache.get(hash, async () => {
      loaded.push(hash);
      return new Uint8Array(bytes);
    });
  await get('a');
  await get('b');
  await get('a');
  await get('c'); // over the bound: b, the one longest unused, goes
  await get('a');
  expect(loaded).toEqual(['a', 'b', 'c']);
  expect(cache.bytes).toBe(80);
  await get('b');
  expect(loaded).toEqual(['a', 'b', 'c', 'b']);
});

test('a shard larger than the bound is given, not kept, and drives nothing out', async () => {
  const cache = new ShardCache(100);
  await cache.get('a', async () => new Uint8Array(90));
  const large = await cache.get('large', async () => new Uint8Array(101));
  expect([large.byteLength, cache.bytes]).toEqual([101, 90]);
});

test('a failed load leaves nothing behind', async () => {
  const cache = new ShardCache(100);
  await expect(cache.get('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const shard = await cache.get('a', async () => new Uint8Array(10));
  expect([shard.byteLength, cache.bytes]).toEqual([10, 10]);
});
