/** What the page sees of the volunteer: one object, replaced at each change. */
import type { VolunteerState } from '@tabweave/trainer';
import { noPauses, type Pauses } from './pauses.ts';

export type HostStatus =
  | { kind: 'off' }
  /** Asking whether another tab of this device works. */
  | { kind: 'asking' }
  | { kind: 'elsewhere' }
  | { kind: 'running' }
  /** A fresh worker begins at `at`, epoch milliseconds; `failures` in a row so far. */
  | { kind: 'restarting'; why: string; at: number; failures: number }
  /** Page and server speak different protocol versions. */
  | { kind: 'reload'; why: string }
  /** The server refused, and trying again would not help. */
  | { kind: 'given-up'; why: string }
  | { kind: 'taken-over' }
  /** `why` is empty where the volunteer asked for it. */
  | { kind: 'ended'; why: string };

export interface HostSnapshot {
  status: HostStatus;
  /** The run that was asked for; null for any. */
  runId: string | null;
  /** The session's last state; of the last session where none runs; null before the first. */
  state: VolunteerState | null;
  /** When the volunteer pressed Start, epoch milliseconds. */
  startedAt: number | null;
  endedAt: number | null;
  pauses: Pauses;
  totals: Totals;
}

/** Over all workers since Start, restarts included. */
export interface Totals {
  acceptedSamples: number;
  acceptedContributions: number;
  refusedContributions: number;
  bytesDown: number;
  bytesUp: number;
  restarts: number;
}

export const noTotals: Totals = {
  acceptedSamples: 0,
  acceptedContributions: 0,
  refusedContributions: 0,
  bytesDown: 0,
  bytesUp: 0,
  restarts: 0,
};

export const offSnapshot: HostSnapshot = {
  status: { kind: 'off' },
  runId: null,
  state: null,
  startedAt: null,
  endedAt: null,
  pauses: noPauses,
  totals: noTotals,
};

/**
 * Totals with the present session's counts. Accepted counts are the server's for this device, over all its
 * sessions; a fresh session knows them only after its first receipt. The others begin at zero in each session.
 * @param before totals when the present session began.
 */
export function addSession(before: Totals, state: VolunteerState): Totals {
  return {
    acceptedSamples: state.acceptedSamples || before.acceptedSamples,
    acceptedContributions: state.acceptedContributions || before.acceptedContributions,
    refusedContributions: before.refusedContributions + state.refusedContributions,
    bytesDown: before.bytesDown + state.bytesDown,
    bytesUp: before.bytesUp + state.bytesUp,
    restarts: before.restarts,
  };
}
