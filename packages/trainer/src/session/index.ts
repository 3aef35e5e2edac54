export * from './volunteer-state.ts';
export { startVolunteer, type VolunteerHooks, type VolunteerIdentity } from './volunteer.ts';
export type { Backoff } from './backoff.ts';
