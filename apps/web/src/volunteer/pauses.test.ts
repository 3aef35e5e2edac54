import { describe, expect, it } from 'vitest';
import { expire, expiresIn, noPauses, pauseReason } from './pauses.ts';

const quarter = { user: { until: 900_000 }, battery: false };

describe('pauses', () => {
  it('end at their time, not before', () => {
    expect(expire(quarter, 899_999)).toEqual(quarter);
    expect(expire(quarter, 900_000)).toEqual(noPauses);
    expect(expiresIn(quarter, 880_000)).toBe(20_000);
    expect(expiresIn(quarter, 990_000)).toBe(0);
  });

  it('without an end last until the volunteer resumes', () => {
    const forever = { user: { until: null }, battery: false };
    expect(expire(forever, Number.MAX_SAFE_INTEGER)).toEqual(forever);
    expect(expiresIn(forever, 0)).toBeNull();
    expect(pauseReason(forever)).toBe('paused until you resume');
  });

  it('leave the battery when the wish has ended', () => {
    const both = { user: { until: 900_000 }, battery: true };
    const clock = (at: number): string => `minute ${at / 60_000}`;
    expect(pauseReason(both, clock)).toBe('paused until minute 15');
    expect(pauseReason(expire(both, 900_001), clock)).toBe('paused: on battery');
    expect(pauseReason(noPauses)).toBeNull();
  });
});
