/**
 * What the volunteer does now, in a few words: what a person reads first, and what a screen reader announces. It names
 * a state, not a step, so that it stays while tasks come and go.
 */
import type { VolunteerState } from '@tabweave/trainer';
import type { HostSnapshot } from '../volunteer/index.ts';

export type Tone = 'working' | 'waiting' | 'paused' | 'stopped' | 'trouble';

export interface Headline {
  tone: Tone;
  title: string;
  /** Why, in a sentence; empty where the title says it all. */
  reason: string;
  /** When the next attempt is made, epoch milliseconds. */
  retryAt: number | null;
}

export function headline({ status, state }: Pick<HostSnapshot, 'status' | 'state'>): Headline {
  const plain = (tone: Tone, title: string, reason = ''): Headline => ({
    tone,
    title,
    reason,
    retryAt: null,
  });
  switch (status.kind) {
    case 'off':
      return plain('stopped', 'Not started');
    case 'asking':
      return plain('waiting', 'Looking for other tabs');
    case 'elsewhere':
      return plain(
        'stopped',
        'Running in another tab',
        'Another tab of this browser works already; one is enough for this device.',
      );
    case 'taken-over':
      return plain('stopped', 'Moved to another tab', 'Another tab of this browser works now.');
    case 'reload':
      return plain('trouble', 'This page is out of date', status.why);
    case 'given-up':
      return plain('trouble', 'The server refused this device', status.why);
    case 'restarting':
      return {
        tone: 'trouble',
        title: 'Starting again',
        reason: withAdvice(status.failures, status.why),
        retryAt: status.at,
      };
    case 'ended':
      return plain('stopped', 'Stopped', status.why);
    case 'running':
      return state === null ? plain('waiting', 'Preparing this device') : ofSession(state);
  }
}

function withAdvice(failures: number, why: string): string {
  return failures < 3
    ? why
    : `${why} This has happened ${failures} times in a row: stop, and choose another way under “Compute with” before you start again.`;
}

function ofSession(state: VolunteerState): Headline {
  const as = (tone: Tone, title: string, reason = ''): Headline => ({ tone, title, reason, retryAt: null });
  switch (state.phase) {
    case 'starting':
      return as('waiting', 'Preparing this device', state.message);
    case 'unsuitable':
      return as('trouble', 'This device cannot take part', state.message);
    case 'connecting':
      return state.retryAt === null
        ? as('waiting', 'Connecting')
        : {
            tone: 'trouble',
            title: state.problem ? 'The server does not take this device now' : 'Server away',
            reason: state.problem?.detail ?? state.message,
            retryAt: state.retryAt,
          };
    case 'waiting':
      return ofNotice(state);
    case 'downloading':
    case 'computing':
    case 'uploading':
      return as('working', state.task?.kind === 'evaluate' ? 'Evaluating' : 'Training');
    case 'paused':
      return as('paused', 'Paused', sentence(state.message));
    case 'finishing':
      return as('working', 'Finishing', 'The present task is completed and sent, then this tab stops.');
    case 'stopped':
      return as('stopped', 'Stopped', state.message);
    case 'failed':
      return as('trouble', 'Failed', state.message);
  }
}

const waitingTitles = {
  'no-run': 'Waiting for a run',
  'run-paused': 'Waiting: the run is paused',
  'run-ended': 'The run has ended',
  'waiting-for-step': 'Training',
  'no-share': 'Waiting: no work for this device now',
  'set-aside': 'Set aside for a while',
  replaced: 'Working in another tab',
  draining: 'Waiting: the server is shutting down',
  working: 'Training',
} as const;

function ofNotice({ notice, message }: VolunteerState): Headline {
  if (notice === null) return { tone: 'waiting', title: 'Waiting for work', reason: '', retryAt: null };
  const title = waitingTitles[notice.code];
  const tone = title === 'Training' ? 'working' : notice.code === 'set-aside' ? 'trouble' : 'waiting';
  return { tone, title, reason: notice.message || message, retryAt: null };
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
