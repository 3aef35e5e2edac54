import type { VolunteerState } from '@tabweave/trainer';
import { describe, expect, it } from 'vitest';
import { activity } from './activity.ts';
import { outlook } from './device-words.ts';
import { formatBytes, formatDuration, formatRate, secondsUntil } from './format.ts';
import { headline } from './headline.ts';

const base: VolunteerState = {
  phase: 'computing',
  message: '',
  device: null,
  selfTest: null,
  run: null,
  notice: null,
  task: { kind: 'train', version: 41, samples: 8, samplesDone: 2 },
  acceptedSamples: 0,
  acceptedContributions: 0,
  refusedContributions: 0,
  lastTimings: null,
  bytesDown: 0,
  bytesUp: 0,
  problem: null,
  retryAt: null,
  log: [],
};
const running = (change: Partial<VolunteerState>) =>
  headline({ status: { kind: 'running' }, state: { ...base, ...change } });

describe('headline', () => {
  it('stays the same through the parts of a task and the wait for the next', () => {
    const notice = { code: 'waiting-for-step', message: 'Waiting for the others.' } as const;
    const titles = [
      running({ phase: 'downloading' }),
      running({ phase: 'computing' }),
      running({ phase: 'uploading' }),
      running({ phase: 'waiting', task: null, notice }),
    ].map(({ title, tone }) => `${title} ${tone}`);
    expect(new Set(titles)).toEqual(new Set(['Training working']));
  });

  it('names the reason of every wait', () => {
    const notice = { code: 'run-paused', message: 'The admin has paused this run.' } as const;
    expect(running({ phase: 'waiting', notice })).toMatchObject({
      tone: 'waiting',
      title: 'Waiting: the run is paused',
      reason: 'The admin has paused this run.',
    });
    expect(running({ phase: 'paused', message: 'paused: on battery' })).toMatchObject({
      tone: 'paused',
      reason: 'Paused: on battery.',
    });
  });

  it('says when a server that is away is tried again', () => {
    const away = { phase: 'connecting', message: 'The server cannot be reached.', retryAt: 5000 } as const;
    expect(running(away)).toEqual({
      tone: 'trouble',
      title: 'Server away',
      reason: 'The server cannot be reached.',
      retryAt: 5000,
    });
    expect(running({ ...away, retryAt: null })).toMatchObject({ tone: 'waiting', title: 'Connecting' });
  });

  it('suggests another back end once a device has failed again and again', () => {
    const status = (failures: number) =>
      ({ kind: 'restarting', why: 'Device lost.', at: 9, failures }) as const;
    expect(headline({ status: status(1), state: base }).reason).toBe('Device lost.');
    expect(headline({ status: status(3), state: base }).reason).toContain('Compute with');
    expect(headline({ status: status(1), state: base }).retryAt).toBe(9);
  });
});

describe('activity', () => {
  it('names the step that the work goes into, and how far it is', () => {
    expect(activity(base)).toEqual({ stage: 'compute', text: 'Step 42: sample 2 of 8', done: 0.25 });
    expect(activity({ ...base, phase: 'uploading' })?.text).toBe('Step 42: sending 8 samples');
    const check = { kind: 'evaluate', version: 50, samples: 32, samplesDone: 0 } as const;
    expect(activity({ ...base, task: check })?.text).toBe('Check of step 50: sample 0 of 32');
  });

  it('is nothing while no task can come', () => {
    expect(activity({ ...base, phase: 'paused' })).toBeNull();
    expect(activity({ ...base, phase: 'waiting', task: null })?.stage).toBeNull();
  });
});

describe('outlook', () => {
  it('tells an insecure address from a browser without WebGPU', () => {
    const lan = { secureContext: false, webgpu: false, hostname: '192.168.1.7' };
    expect(outlook(lan).text).toMatch(/HTTPS or on localhost.*http:\/\/192\.168\.1\.7.*more slowly/);
    expect(outlook({ ...lan, secureContext: true }).text).toMatch(/does not offer WebGPU/);
    expect(outlook({ ...lan, secureContext: true, webgpu: true }).good).toBe(true);
  });
});

describe('numbers', () => {
  it('say rates as devices are compared', () => {
    expect([0, 900, 1500, 3.94e9, 9.96e11, 1.95e13].map(formatRate)).toEqual([
      '0 FLOP/s',
      '900 FLOP/s',
      '1.5 KFLOP/s',
      '3.9 GFLOP/s',
      '1 TFLOP/s',
      '20 TFLOP/s',
    ]);
  });

  it('carry their unit', () => {
    expect([0, 999, 1000, 12_340, 999_600, 123_456_789, 2.5e9].map(formatBytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '12.3 kB',
      '1.0 MB',
      '123 MB',
      '2.5 GB',
    ]);
    expect([900, 59_999, 60_000, 3_600_000, 11_100_000].map(formatDuration)).toEqual([
      '0 s',
      '59 s',
      '1 min',
      '1 h',
      '3 h 5 min',
    ]);
    expect(secondsUntil(5000, 600)).toBe(5);
    expect(secondsUntil(5000, 9000)).toBe(0);
  });
});
