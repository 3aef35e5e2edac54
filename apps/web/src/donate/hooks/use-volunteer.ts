import { useSyncExternalStore } from 'react';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';

export function useVolunteer(): HostSnapshot {
  return useSyncExternalStore(volunteer.subscribe, volunteer.getSnapshot);
}
