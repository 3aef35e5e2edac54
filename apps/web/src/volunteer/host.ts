/**
 * The page's side of a volunteer: owns the Web Worker, begins a fresh one when it fails, holds the device's lock, and
 * says in one snapshot what goes on. It never touches the GPU or the socket.
 */
import type { VolunteerOptions, VolunteerState } from '@tabweave/trainer';
import type { DeviceLock } from './device-lock.ts';
import { addSession, noTotals, offSnapshot, type HostSnapshot, type HostStatus } from './host-snapshot.ts';
import type { Identity } from './messages.ts';
import { expire, expiresIn, noPauses, pauseReason, type Pauses } from './pauses.ts';
import { countFailure, restartDelay, verdict } from './restart-policy.ts';
import { WorkerLife, type WorkerPort } from './worker-life.ts';

export interface HostPorts {
  spawn(): WorkerPort;
  lock(take: boolean): Promise<DeviceLock | null>;
  loadIdentity(): Identity | null;
  saveIdentity(identity: Identity): void;
  /** Tells whether the device runs on battery, now and at each change; the function returned ends it. */
  watchBattery(tell: (onBattery: boolean) => void): () => void;
}

export type StartOptions = Omit<VolunteerOptions, 'identity'>;

/** What stays on this side of the worker. */
export interface HostOptions {
  pauseOnBattery: boolean;
  /** Make another tab of this device stop, if one works. */
  takeOver?: boolean;
}

/** A worker that was told to stop is ended after this time, whatever it does. */
const stopMilliseconds = 2000;

export class VolunteerHost {
  readonly #ports: HostPorts;
  readonly #listeners = new Set<() => void>();
  #snapshot: HostSnapshot = offSnapshot;
  #options: StartOptions | null = null;
  #identity: Identity | null = null;
  #lock: DeviceLock | null = null;
  #endBatteryWatch: (() => void) | null = null;
  /** The lock of the last session is free again. */
  #released: Promise<void> = Promise.resolve();
  #life: WorkerLife | null = null;
  #totalsBefore = noTotals;
  #failures = 0;
  /** The volunteer wants to end. */
  #asked = false;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;
  #pauseTimer: ReturnType<typeof setTimeout> | undefined;
  #stopTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(ports: HostPorts) {
    this.#ports = ports;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getSnapshot = (): HostSnapshot => this.#snapshot;

  /** Begins to work, unless another tab of this device does. */
  async start(options: StartOptions, { pauseOnBattery, takeOver = false }: HostOptions): Promise<void> {
    if (this.#busy()) return;
    this.#options = options;
    this.#totalsBefore = noTotals;
    this.#failures = 0;
    this.#asked = false;
    this.#set({ ...offSnapshot, runId: options.runId, status: { kind: 'asking' } });
    await this.#released;
    const lock = await this.#ports.lock(takeOver);
    if (this.#snapshot.status.kind !== 'asking') return lock?.release();
    if (lock === null) return this.#set({ status: { kind: 'elsewhere' } });
    this.#lock = lock;
    void lock.lost.then(() => {
      if (this.#lock === lock) this.#close({ kind: 'taken-over' });
    });
    this.#identity = this.#ports.loadIdentity();
    this.#set({ startedAt: Date.now() });
    this.setPauseOnBattery(pauseOnBattery);
    this.#spawn();
  }

  /** @param milliseconds how long; null until `resume`. */
  pause(milliseconds: number | null): void {
    this.#pauses({
      ...this.#snapshot.pauses,
      user: { until: milliseconds === null ? null : Date.now() + milliseconds },
    });
  }

  /** Lifts the volunteer's own pause; one for the battery stays. */
  resume(): void {
    this.#pauses({ ...this.#snapshot.pauses, user: null });
  }

  /** Whether to pause whenever the device runs on battery. */
  setPauseOnBattery(enabled: boolean): void {
    this.#endBatteryWatch?.();
    this.#endBatteryWatch = null;
    if (!this.#lock) return;
    if (enabled) this.#endBatteryWatch = this.#ports.watchBattery((battery) => this.#battery(battery));
    else this.#battery(false);
  }

  setDutyCycle(share: number): void {
    if (this.#options) this.#options = { ...this.#options, dutyCycle: share };
    this.#life?.send({ type: 'setDutyCycle', share });
  }

  /** Completes and sends the present task, then ends. */
  finish(): void {
    this.#asked = true;
    if (this.#life) this.#life.send({ type: 'finish' });
    else this.#close({ kind: 'ended', why: '' });
  }

  /** Ends at once; the server gives the present task to someone else. */
  stop(): void {
    this.#asked = true;
    if (!this.#life) return this.#close({ kind: 'ended', why: '' });
    this.#life.send({ type: 'stop' });
    this.#stopTimer ??= setTimeout(() => this.#close({ kind: 'ended', why: '' }), stopMilliseconds);
  }

  /** Begins the restart now instead of at its time. */
  restartNow(): void {
    if (this.#snapshot.status.kind === 'restarting') this.#spawn();
  }

  /** Back to before Start. */
  reset(): void {
    this.#close({ kind: 'off' });
    this.#set(offSnapshot);
  }

  #battery(battery: boolean): void {
    if (battery !== this.#snapshot.pauses.battery) this.#pauses({ ...this.#snapshot.pauses, battery });
  }

  #busy(): boolean {
    const { kind } = this.#snapshot.status;
    return kind === 'asking' || kind === 'running' || kind === 'restarting';
  }

  #spawn(): void {
    if (!this.#options) return;
    clearTimeout(this.#restartTimer);
    const acceptedBefore = this.#snapshot.totals.acceptedContributions;
    const options = { ...this.#options, identity: this.#identity };
    const life: WorkerLife = new WorkerLife(this.#ports.spawn(), options, {
      state: (state) => this.#state(state, acceptedBefore),
      identity: (identity) => {
        this.#identity = identity;
        this.#ports.saveIdentity(identity);
      },
      ended: () => this.#close({ kind: 'ended', why: '' }),
      died: (why) => this.#restart(why, acceptedBefore),
    });
    this.#life = life;
    const reason = pauseReason(this.#snapshot.pauses);
    if (reason !== null) life.send({ type: 'pause', reason });
    // What the failed session said is over.
    this.#set({ status: { kind: 'running' }, state: null });
  }

  #state(state: VolunteerState, acceptedBefore: number): void {
    this.#set({ state, totals: addSession(this.#totalsBefore, state) });
    if (state.phase === 'stopped') this.#close({ kind: 'ended', why: this.#asked ? '' : state.message });
    if (state.phase !== 'failed') return;
    const why = state.problem?.detail ?? state.message;
    switch (verdict(state)) {
      case 'restart':
        return this.#restart(why, acceptedBefore);
      case 'reload':
        return this.#close({ kind: 'reload', why });
      case 'give-up':
        return this.#close({ kind: 'given-up', why });
    }
  }

  #restart(why: string, acceptedBefore: number): void {
    const life = this.#life;
    if (!life) return;
    const { totals } = this.#snapshot;
    const accepted = totals.acceptedContributions - acceptedBefore;
    this.#endLife();
    if (this.#asked) return this.#close({ kind: 'ended', why: '' });
    this.#failures = countFailure(this.#failures, { milliseconds: Date.now() - life.startedAt, accepted });
    const delay = restartDelay(this.#failures);
    this.#totalsBefore = { ...totals, restarts: totals.restarts + 1 };
    this.#restartTimer = setTimeout(() => this.#spawn(), delay);
    this.#set({
      totals: this.#totalsBefore,
      status: { kind: 'restarting', why, at: Date.now() + delay, failures: this.#failures },
    });
  }

  #pauses(pauses: Pauses): void {
    clearTimeout(this.#pauseTimer);
    const before = pauseReason(this.#snapshot.pauses);
    this.#set({ pauses });
    const reason = pauseReason(pauses);
    if (reason === null) this.#life?.send({ type: 'resume' });
    else if (reason !== before) this.#life?.send({ type: 'pause', reason });
    const wait = expiresIn(pauses, Date.now());
    if (wait !== null) {
      this.#pauseTimer = setTimeout(() => this.#pauses(expire(this.#snapshot.pauses, Date.now())), wait);
    }
  }

  #endLife(): void {
    clearTimeout(this.#stopTimer);
    this.#stopTimer = undefined;
    this.#life?.end();
    this.#life = null;
  }

  #close(status: HostStatus): void {
    this.#endLife();
    clearTimeout(this.#restartTimer);
    clearTimeout(this.#pauseTimer);
    this.#endBatteryWatch?.();
    this.#endBatteryWatch = null;
    if (this.#lock) this.#released = this.#lock.release();
    this.#lock = null;
    this.#set({ status, pauses: noPauses, endedAt: Date.now() });
  }

  #set(change: Partial<HostSnapshot>): void {
    this.#snapshot = { ...this.#snapshot, ...change };
    for (const listener of this.#listeners) listener();
  }
}
