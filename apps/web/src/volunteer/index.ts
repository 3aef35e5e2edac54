/** The volunteer of this tab, at most one, which lives on while the visitor looks at other pages of the site. */
import { watchBattery } from './battery.ts';
import { acquireDeviceLock } from './device-lock.ts';
import { VolunteerHost } from './host.ts';
import { loadIdentity, saveIdentity } from './identity.ts';
import { spawnVolunteer } from './spawn.ts';

export const volunteer = new VolunteerHost({
  spawn: spawnVolunteer,
  lock: acquireDeviceLock,
  loadIdentity: () => loadIdentity(),
  saveIdentity: (identity) => saveIdentity(identity),
  watchBattery,
});

export type { HostSnapshot, HostStatus, Totals } from './host-snapshot.ts';
export type { HostOptions, StartOptions } from './host.ts';
