import { evaluationWindow, trainingWindow, type Task } from '@tabweave/shared';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gatherTokens } from './token-windows.ts';

const tokens = 700;

/** A task over a stream of `tokens` tokens cut at `cuts`; token i is i. */
function makeTask(cuts: number[], tokenBytes: 2 | 4, kind: Task['kind'], version: number): Task {
  const edges = [0, ...cuts.sort((a, b) => a - b), tokens];
  const shards = edges.slice(1).flatMap((end, i) => {
    const start = edges[i] as number;
    return end > start ? [{ url: '', hash: `${i}`, start, tokens: end - start }] : [];
  });
  return {
    kind,
    version,
    config: { vocabSize: tokens },
    sampling: {
      seed: 5,
      globalBatch: 8,
      blockSize: 10,
      train: { start: 0, end: 600 },
      validation: { start: 600, end: tokens },
      evaluationSamples: 8,
    },
    data: { tokenBytes, shards },
    samples: { start: 1, end: 7 },
  } as unknown as Task;
}

function bytesOf(task: Task, shard: Task['data']['shards'][number]): Uint8Array<ArrayBuffer> {
  const values = Array.from({ length: shard.tokens }, (_, i) => shard.start + i);
  const array = task.data.tokenBytes === 2 ? Uint16Array.from(values) : Uint32Array.from(values);
  return new Uint8Array(array.buffer);
}

test('rows are the windows of the sampler, however the stream is cut, and each shard is read at most once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: tokens - 1 }), { maxLength: 6 }),
      fc.constantFrom<2 | 4>(2, 4),
      fc.constantFrom<Task['kind']>('train', 'evaluate'),
      fc.nat(200),
      async (cuts, tokenBytes, kind, version) => {
        const task = makeTask(cuts, tokenBytes, kind, version);
        const read: string[] = [];
        const rows = await gatherTokens(task, async (shard) => {
          read.push(shard.hash);
          return bytesOf(task, shard);
        });
        const expected = [1, 2, 3, 4, 5, 6].flatMap((index) => {
          const first =
            kind === 'train'
              ? trainingWindow(task.sampling, version, index)
              : evaluationWindow(task.sampling, index);
          return Array.from({ length: 11 }, (_, i) => first + i);
        });
        expect([...rows]).toEqual(expected);
        expect(new Set(read).size).toBe(read.length);
      },
    ),
    { numRuns: 60 },
  );
});

test('only shards that a sample touches are read', async () => {
  const task = makeTask([300, 600], 2, 'evaluate', 0);
  const read: number[] = [];
  await gatherTokens(task, async (shard) => {
    read.push(shard.start);
    return bytesOf(task, shard);
  });
  expect(read).toEqual([600]);
});

test('a shard of another length than announced is refused', async () => {
  const task = makeTask([], 2, 'train', 0);
  const short = gatherTokens(task, async (shard) => bytesOf(task, shard).slice(0, -2));
  await expect(short).rejects.toMatchObject({ reason: 'bad-data' });
});
