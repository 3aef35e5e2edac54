/** The state that the host sees: one object, replaced at each change, never changed in place. */
import type { VolunteerPhase, VolunteerState } from './volunteer-state.ts';

const logEntries = 50;
/** Byte counters run with every chunk; the host is not woken more often than this for them alone. */
const counterMilliseconds = 200;

type Patch = Partial<Omit<VolunteerState, 'log'>>;

/** Phases of going on; a volunteer that pauses or finishes is shown as that instead. */
const workingPhases: readonly VolunteerPhase[] = [
  'connecting',
  'waiting',
  'downloading',
  'computing',
  'uploading',
];

export class SessionState {
  readonly #tell: (state: VolunteerState) => void;
  #toldAt = 0;
  #ended = false;
  #override: { phase: 'paused' | 'finishing'; message: string } | null = null;
  #current: VolunteerState = {
    phase: 'starting',
    message: 'Looking for the fastest way to compute on this device.',
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

  /** Phase and message as they are under the override. */
  #hidden: Pick<VolunteerState, 'phase' | 'message'> = this.#current;

  constructor(tell: (state: VolunteerState) => void) {
    this.#tell = tell;
  }

  get current(): VolunteerState {
    return this.#current;
  }

  /** Changes fields and tells the host; `log` adds a line to the events. */
  set(patch: Patch, log?: string): void {
    if (this.#ended) return;
    const { phase = this.#hidden.phase, message = this.#hidden.message } = patch;
    this.#hidden = { phase, message };
    const covered = this.#override !== null && workingPhases.includes(phase);
    this.#current = { ...this.#current, ...patch, ...(covered ? this.#override : this.#hidden) };
    if (log !== undefined) this.#append(log);
    this.#emit();
  }

  /** The last change; whatever still runs out afterwards no longer shows. */
  end(phase: 'unsuitable' | 'stopped' | 'failed', message: string): void {
    this.set({ phase, message, task: null, retryAt: null }, message);
    this.#ended = true;
  }

  /** While set, the phases of going on are shown as this one. */
  override(as: { phase: 'paused' | 'finishing'; message: string } | null): void {
    this.#override = as;
    this.set({});
  }

  note(text: string): void {
    this.set({}, text);
  }

  /** Adds to a counter; the host hears of it within `counterMilliseconds` or with the next change. */
  count(counter: 'bytesDown' | 'bytesUp', bytes: number): void {
    this.#current = { ...this.#current, [counter]: this.#current[counter] + bytes };
    if (performance.now() - this.#toldAt >= counterMilliseconds) this.#emit();
  }

  #append(text: string): void {
    const log = [{ at: Date.now(), text }, ...this.#current.log].slice(0, logEntries);
    this.#current = { ...this.#current, log };
  }

  #emit(): void {
    this.#toldAt = performance.now();
    this.#tell(this.#current);
  }
}
