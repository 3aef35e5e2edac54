import type { VolunteerState } from '@tabweave/trainer';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { DeviceLock } from './device-lock.ts';
import { VolunteerHost } from './host.ts';
import type { FromWorker, Identity, ToWorker } from './messages.ts';
import type { WorkerPort } from './worker-life.ts';

const idle: VolunteerState = {
  phase: 'starting',
  message: '',
  device: null,
  selfTest: null,
  run: null,
  notice: null,
  task: null,
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

/** The far end of a worker, played by the test. */
class Far implements WorkerPort {
  received: ToWorker[] = [];
  terminated = false;
  onmessage: WorkerPort['onmessage'] = null;
  onerror: WorkerPort['onerror'] = null;

  postMessage(message: ToWorker): void {
    this.received.push(message);
  }

  terminate(): void {
    this.terminated = true;
  }

  says(message: FromWorker): void {
    this.onmessage?.({ data: message } as MessageEvent<FromWorker>);
  }

  state(state: Partial<VolunteerState>): void {
    this.says({ type: 'state', state: { ...idle, ...state } });
  }
}

function setUp(lock: (take: boolean) => Promise<DeviceLock | null> = async () => freeLock()) {
  const workers: Far[] = [];
  let identity: Identity | null = null;
  let tellBattery: ((onBattery: boolean) => void) | null = null;
  const host = new VolunteerHost({
    spawn: () => {
      const far = new Far();
      workers.push(far);
      return far;
    },
    lock,
    loadIdentity: () => identity,
    saveIdentity: (given) => (identity = given),
    watchBattery: (tell) => {
      tellBattery = tell;
      return () => (tellBattery = null);
    },
  });
  const last = (): Far => workers.at(-1) as Far;
  const battery = (on: boolean): void => tellBattery?.(on);
  return { host, workers, last, battery, kind: () => host.getSnapshot().status.kind };
}

function freeLock(lost: Promise<void> = new Promise(() => undefined)): DeviceLock {
  return { lost, release: async () => undefined };
}

const options = { url: 'http://x', runId: 'run1', name: '', dutyCycle: 0.6, backend: 'auto' } as const;
const onBattery = { pauseOnBattery: true };

describe('VolunteerHost', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('creates no worker before Start', async () => {
    const { host, workers, kind } = setUp();
    host.setPauseOnBattery(true);
    expect(workers).toHaveLength(0);
    expect(kind()).toBe('off');
    await host.start(options, onBattery);
    expect(workers).toHaveLength(1);
  });

  it('begins afresh after a lost device, with the same identity, the present duty cycle and the pause', async () => {
    const { host, workers, last, kind } = setUp();
    await host.start(options, onBattery);
    last().says({ type: 'identity', identity: { workerId: 'w1234', secret: 's' } });
    host.setDutyCycle(0.25);
    host.pause(null);
    last().state({ phase: 'failed', message: 'The GPU device was lost.' });
    expect(kind()).toBe('restarting');
    expect(workers[0]?.terminated).toBe(true);
    vi.advanceTimersByTime(999);
    expect(workers).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(host.getSnapshot()).toMatchObject({ status: { kind: 'running' }, state: null });
    expect(last().received).toEqual([
      {
        type: 'start',
        options: { ...options, dutyCycle: 0.25, identity: { workerId: 'w1234', secret: 's' } },
      },
      { type: 'pause', reason: 'paused until you resume' },
    ]);
  });

  it('waits longer after each failure in a row, and 1 s again after useful work', async () => {
    const { host, last } = setUp();
    await host.start(options, onBattery);
    const wait = (): number => {
      const { status } = host.getSnapshot();
      const milliseconds = status.kind === 'restarting' ? status.at - Date.now() : -1;
      vi.advanceTimersByTime(milliseconds);
      return milliseconds;
    };
    const fail = (accepted = 0): number => {
      last().state({ phase: 'failed', message: 'gpu-error', acceptedContributions: accepted });
      return wait();
    };
    expect([fail(), fail(), fail()]).toEqual([1000, 2000, 4000]);
    expect(fail(1)).toBe(1000);
  });

  it('begins afresh after a crash and after silence', async () => {
    const { host, workers, kind } = setUp();
    await host.start(options, onBattery);
    workers[0]?.says({ type: 'crashed', message: 'out of memory' });
    expect(host.getSnapshot().status).toMatchObject({ why: 'The worker failed: out of memory' });
    vi.advanceTimersByTime(1000);
    expect(kind()).toBe('running');
    vi.advanceTimersByTime(150_000);
    expect(workers[1]?.terminated).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(workers[1]?.terminated).toBe(true);
    expect(host.getSnapshot().totals.restarts).toBe(2);
  });

  it('does not begin afresh where the page is too old', async () => {
    const { host, workers, last, kind } = setUp();
    await host.start(options, onBattery);
    const problem = {
      type: '',
      title: '',
      status: 426,
      code: 'PROTOCOL_MISMATCH',
      detail: 'The server speaks version 2.',
    } as const;
    last().state({ phase: 'failed', problem });
    expect(kind()).toBe('reload');
    vi.advanceTimersByTime(600_000);
    expect(workers).toHaveLength(1);
  });

  it('adds up over workers: traffic and refusals sum, accepted counts are the server’s', async () => {
    const { host, last } = setUp();
    await host.start(options, onBattery);
    last().state({ acceptedSamples: 80, bytesUp: 100, refusedContributions: 1 });
    last().state({ phase: 'failed', acceptedSamples: 80, bytesUp: 150, refusedContributions: 1 });
    vi.advanceTimersByTime(1000);
    last().state({ bytesUp: 20 });
    expect(host.getSnapshot().totals).toMatchObject({ acceptedSamples: 80, bytesUp: 170 });
    last().state({ acceptedSamples: 96, bytesUp: 30, refusedContributions: 1 });
    expect(host.getSnapshot().totals).toMatchObject({
      acceptedSamples: 96,
      bytesUp: 180,
      refusedContributions: 2,
    });
  });

  it('resumes by itself at the end of a timed pause, unless on battery', async () => {
    const { host, last, battery } = setUp();
    await host.start(options, onBattery);
    host.pause(900_000);
    vi.advanceTimersByTime(899_999);
    expect(last().received.map(({ type }) => type)).toEqual(['start', 'pause']);
    vi.advanceTimersByTime(1);
    expect(last().received.at(-1)).toEqual({ type: 'resume' });
    host.pause(900_000);
    battery(true);
    vi.advanceTimersByTime(900_000);
    expect(last().received.at(-1)).toEqual({ type: 'pause', reason: 'paused: on battery' });
    battery(false);
    expect(last().received.at(-1)).toEqual({ type: 'resume' });
    battery(true);
    host.setPauseOnBattery(false);
    expect(last().received.at(-1)).toEqual({ type: 'resume' });
  });

  it('finishes through the worker, and ends it then', async () => {
    const { host, workers, last, kind } = setUp();
    await host.start(options, onBattery);
    host.finish();
    expect(last().received.at(-1)).toEqual({ type: 'finish' });
    expect(kind()).toBe('running');
    last().says({ type: 'ended' });
    expect(kind()).toBe('ended');
    expect(workers[0]?.terminated).toBe(true);
  });

  it('says why where the session ended by itself, and only there', async () => {
    const { host, last } = setUp();
    await host.start(options, onBattery);
    last().state({ phase: 'stopped', message: 'Connected again elsewhere.' });
    expect(host.getSnapshot().status).toEqual({ kind: 'ended', why: 'Connected again elsewhere.' });
    await host.start(options, onBattery);
    host.finish();
    last().state({ phase: 'stopped', message: 'Stopped, as asked.' });
    expect(host.getSnapshot().status).toEqual({ kind: 'ended', why: '' });
  });

  it('a failure while finishing ends it; stop ends a worker that does not answer', async () => {
    const { host, last, workers, kind } = setUp();
    await host.start(options, onBattery);
    host.finish();
    last().says({ type: 'crashed', message: '' });
    expect(kind()).toBe('ended');
    await host.start(options, onBattery);
    host.stop();
    vi.advanceTimersByTime(2000);
    expect(kind()).toBe('ended');
    vi.advanceTimersByTime(600_000);
    expect(workers).toHaveLength(2);
  });

  it('leaves the device to a tab that works already, and yields to one that takes over', async () => {
    const { promise: lost, resolve: takeOver } = Promise.withResolvers<void>();
    const { host, workers, kind } = setUp(async (take) => (take ? freeLock(lost) : null));
    await host.start(options, onBattery);
    expect(kind()).toBe('elsewhere');
    expect(workers).toHaveLength(0);
    await host.start(options, { pauseOnBattery: true, takeOver: true });
    expect(kind()).toBe('running');
    takeOver();
    await lost;
    await Promise.resolve();
    expect(kind()).toBe('taken-over');
    expect(workers[0]?.terminated).toBe(true);
  });

  it('stopped while it asks for the lock, it starts nothing and keeps no lock', async () => {
    const { promise, resolve } = Promise.withResolvers<DeviceLock>();
    let released = false;
    const { host, workers } = setUp(() => promise);
    const starting = host.start(options, onBattery);
    host.stop();
    resolve({ lost: new Promise(() => undefined), release: async () => void (released = true) });
    await starting;
    expect(workers).toHaveLength(0);
    expect(released).toBe(true);
  });
});
