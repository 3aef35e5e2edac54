import type { VolunteerState } from '@tabweave/trainer';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StateRelay } from './state-relay.ts';

const state = (phase: VolunteerState['phase'], acceptedSamples = 0) =>
  ({ phase, acceptedSamples }) as VolunteerState;

describe('StateRelay', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('sends the last of many states, a few times a second', () => {
    const sent: number[] = [];
    const relay = new StateRelay((s) => sent.push(s.acceptedSamples));
    for (let i = 1; i <= 100; i++) {
      relay.push(state('computing', i));
      vi.advanceTimersByTime(10);
    }
    vi.advanceTimersByTime(1000);
    expect(sent.at(-1)).toBe(100);
    expect(sent.length).toBeGreaterThanOrEqual(5);
    expect(sent.length).toBeLessThanOrEqual(8);
  });

  it('sends a failure at once, and not an older state after it', () => {
    const sent: string[] = [];
    const relay = new StateRelay((s) => sent.push(s.phase));
    relay.push(state('computing'));
    relay.push(state('failed'));
    expect(sent).toEqual(['failed']);
    vi.advanceTimersByTime(1000);
    expect(sent).toEqual(['failed']);
  });
});
