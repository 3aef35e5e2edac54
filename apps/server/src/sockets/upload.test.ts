import { encodeFrame, decodeFrame, frameCount, limits } from '@tabweave/shared';
import { describe, expect, it } from 'vitest';
import { TokenBucket } from './token-bucket.ts';
import { Upload, UploadBudget } from './upload.ts';

function frames(bytes: Uint8Array, lease = 5) {
  const count = frameCount(bytes.length);
  return Array.from({ length: count }, (_, index) => {
    const payload = bytes.subarray(index * limits.frameBytes, (index + 1) * limits.frameBytes);
    return decodeFrame(encodeFrame({ lease, index, count, payload }));
  });
}

describe('Upload', () => {
  const bytes = Uint8Array.from({ length: 2 * limits.frameBytes + 77 }, (_, i) => (i * 7) % 251);

  it('puts frames together in any order, repeats included', () => {
    const upload = new Upload(5, bytes.length);
    const [a, b, c] = frames(bytes);
    for (const frame of [c, a, a, b, c]) if (frame) upload.take(frame);
    expect(Buffer.compare(upload.finish(), bytes)).toBe(0);
  });

  it('refuses what does not belong, and an end before all is there', () => {
    const upload = new Upload(5, bytes.length);
    const [first] = frames(bytes);
    if (!first) throw new Error('no frame');
    expect(() => upload.take({ ...first, lease: 6 })).toThrow('lease 6, not 5');
    expect(() => upload.take({ ...first, count: 9, index: 8 })).toThrow('9 frames, not 3');
    expect(() => upload.take({ ...first, index: 2 })).toThrow('bytes, not 77');
    upload.take(first);
    expect(() => upload.finish()).toThrow('1 of 3 frames');
  });
});

describe('UploadBudget', () => {
  it('never exceeds its memory, serves in order, and lets a giant in alone', async () => {
    const budget = new UploadBudget(100);
    const order: string[] = [];
    const first = await budget.acquire(60);
    const waiting = [
      budget.acquire(50).then((r) => (order.push('b'), r)),
      budget.acquire(10).then((r) => (order.push('c'), r)),
    ];
    const giant = budget.acquire(1000).then((r) => (order.push('giant'), r));
    await Promise.resolve();
    expect(budget.bytesInUse).toBe(60);
    expect(order).toEqual([]);
    first();
    first();
    const releases = await Promise.all(waiting);
    expect(order).toEqual(['b', 'c']);
    expect(budget.bytesInUse).toBe(60);
    for (const release of releases) release();
    (await giant)();
    expect(budget.bytesInUse).toBe(0);
  });
});

it('a token bucket allows its burst, then its rate', () => {
  const bucket = new TokenBucket(10, 3, 0);
  const taken = [0, 0, 0, 0, 100, 100, 1000, 1000, 1000, 1000].map((now) => bucket.take(now));
  expect(taken).toEqual([true, true, true, false, true, false, true, true, true, false]);
});
