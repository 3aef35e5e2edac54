/** A session under test, with its states. */
import { startVolunteer, type VolunteerHooks, type VolunteerIdentity } from '../volunteer.ts';
import type { VolunteerControls, VolunteerOptions, VolunteerState } from '../volunteer-state.ts';
import { ArithmeticEngine } from './arithmetic-engine.ts';
import { until } from './protocol-server.ts';

export interface TestSession extends AsyncDisposable {
  volunteer: VolunteerControls;
  engine: ArithmeticEngine;
  states: VolunteerState[];
  identities: VolunteerIdentity[];
  state(): VolunteerState;
  phase(phase: VolunteerState['phase']): Promise<VolunteerState>;
}

export function startSession(
  url: string,
  engine: ArithmeticEngine = new ArithmeticEngine(),
  options: Partial<VolunteerOptions> = {},
  hooks: Partial<VolunteerHooks> = {},
): TestSession {
  const states: VolunteerState[] = [];
  const identities: VolunteerIdentity[] = [];
  const volunteer = startVolunteer(
    { url, runId: null, name: '', dutyCycle: 1, backend: 'cpu', identity: null, ...options },
    {
      createEngine: async () => engine,
      selfTest: async () => ({ passed: true, milliseconds: 1, checks: [], switchedOff: [] }),
      onState: (state) => states.push(state),
      onIdentity: (identity) => identities.push(identity),
      backoff: { reconnect: { first: 10, most: 20 }, download: { first: 2, most: 4 } },
      ...hooks,
    },
  );
  const state = (): VolunteerState => states.at(-1) as VolunteerState;
  return {
    volunteer,
    engine,
    states,
    identities,
    state,
    phase: (phase) => until(() => state().phase === phase && state(), `phase ${phase}`),
    [Symbol.asyncDispose]: () => volunteer.stop(),
  };
}

/** Something that is waited for until a test lets it go. */
export function gate(): { passed: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: resolve };
}
