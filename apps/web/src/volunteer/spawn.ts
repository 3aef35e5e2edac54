import type { WorkerPort } from './worker-life.ts';

/** A fresh dedicated Web Worker, which owns socket and GPU. */
export function spawnVolunteer(): WorkerPort {
  return new Worker(new URL('./volunteer-worker.ts', import.meta.url), {
    type: 'module',
    name: 'tabweave volunteer',
  });
}
