import { limits } from '@tabweave/shared';
import { expect, test } from 'vitest';
import { SendWindow } from './send-window.ts';

test('on a quick line the window opens to the bound of the protocol and no further', () => {
  const window = new SendWindow();
  for (let i = 0; i < 20; i++) window.acknowledged(100);
  expect(window.size).toBe(limits.framesInFlight);
});

/** Drives the window against a line of `rate` bytes a second; gives the longest queue in seconds once settled. */
function longestQueue(rate: number): number {
  const window = new SendWindow();
  const frameMilliseconds = (1000 * limits.frameBytes) / rate;
  let queued = 0;
  for (let frame = 0; frame < 40; frame++) {
    const waiting = window.size * frameMilliseconds;
    if (frame >= 10) queued = Math.max(queued, waiting / 1000);
    window.acknowledged(waiting);
  }
  return queued;
}

test.each([
  // Slower than this one frame alone takes longer than the server waits for a heartbeat.
  [30_000, 9],
  [100_000, 6],
  [1_000_000, 2.2],
])('at %d bytes a second the heartbeat waits at most %d s behind frames', (rate, seconds) => {
  expect(longestQueue(rate)).toBeLessThanOrEqual(seconds);
});
