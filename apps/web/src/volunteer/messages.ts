/** What the page and the volunteer's Web Worker say to each other. */
import type { VolunteerOptions, VolunteerState } from '@tabweave/trainer';

export interface Identity {
  workerId: string;
  secret: string;
}

export type ToWorker =
  | { type: 'start'; options: VolunteerOptions }
  | { type: 'pause'; reason: string }
  | { type: 'resume' }
  | { type: 'finish' }
  | { type: 'stop' }
  | { type: 'setDutyCycle'; share: number };

export type FromWorker =
  | { type: 'state'; state: VolunteerState }
  | { type: 'identity'; identity: Identity }
  /** The worker's event loop turns. */
  | { type: 'beat' }
  /** `finish` or `stop` is done; the worker may be ended. */
  | { type: 'ended' }
  /** Something outside the session threw; the worker is not to be trusted any more. */
  | { type: 'crashed'; message: string };

/** Milliseconds between two beats. */
export const beatMilliseconds = 2000;
