/** What the host and a worker's thread say to each other. */
import type { VolunteerIdentity, VolunteerOptions, VolunteerState } from '../session/index.ts';

/** What a thread is started with. */
export interface ThreadStart {
  options: VolunteerOptions;
  slow: number;
}

export type ToThread = { type: 'pause'; reason: string } | { type: 'resume' | 'finish' | 'stop' };

export type FromThread =
  | { type: 'state'; state: VolunteerState }
  | { type: 'identity'; identity: VolunteerIdentity }
  /** `finish` or `stop` is done. */
  | { type: 'ended' };
