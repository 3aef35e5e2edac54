import { describe, expect, it } from 'vitest';
import { byChannel, byWebLock } from './device-lock.ts';

// Node 24 has both: Web Locks and BroadcastChannel are the real ones here.
const kinds = {
  'Web Locks': (take: boolean) => byWebLock(navigator.locks, take),
  BroadcastChannel: (take: boolean) => byChannel(take, 40),
};

describe.each(Object.entries(kinds))('the lock of a device by %s', (_, acquire) => {
  it('is had by one, until it is released', async () => {
    const first = await acquire(false);
    expect(first).not.toBeNull();
    expect(await acquire(false)).toBeNull();
    await first?.release();
    const second = await acquire(false);
    expect(second).not.toBeNull();
    await second?.release();
  });

  it('can be taken over, and the one who had it hears so', async () => {
    const first = await acquire(false);
    let lost = false;
    void first?.lost.then(() => (lost = true));
    const second = await acquire(true);
    expect(second).not.toBeNull();
    await first?.lost;
    expect(lost).toBe(true);
    expect(await acquire(false)).toBeNull();
    await second?.release();
  });
});
