/**
 * Sends the session's states to the page at a rate a person can follow: small models go through several phases a
 * second. The last state always arrives.
 */
import type { VolunteerPhase, VolunteerState } from '@tabweave/trainer';

const intervalMilliseconds = 150;
/** What the page has to know at once. */
const urgent: readonly VolunteerPhase[] = ['failed', 'unsuitable', 'stopped', 'paused', 'finishing'];

export class StateRelay {
  readonly #post: (state: VolunteerState) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #latest: VolunteerState | null = null;
  #phase: VolunteerPhase | null = null;

  constructor(post: (state: VolunteerState) => void) {
    this.#post = post;
  }

  push(state: VolunteerState): void {
    this.#latest = state;
    if (urgent.includes(state.phase) && state.phase !== this.#phase) {
      this.flush();
    } else {
      this.#timer ??= setTimeout(() => this.flush(), intervalMilliseconds);
    }
  }

  /** Sends what is waiting. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#latest === null) return;
    this.#phase = this.#latest.phase;
    this.#post(this.#latest);
    this.#latest = null;
  }
}
