import type { Worker } from '@tabweave/shared';
import { formatDuration } from '../../../ui/index.ts';

export const backendNames: Record<Worker['backend'], string> = {
  webgpu: 'WebGPU',
  webgl: 'WebGL',
  wasm: 'WASM',
  cpu: 'JavaScript',
};

/** `WebGPU, browser`. */
export function backendWords(worker: Worker): string {
  return `${backendNames[worker.backend]}, ${worker.environment === 'node' ? 'headless' : 'browser'}`;
}

/** How a step's time is spent; empty before the first. */
export function timeWords(worker: Worker): string {
  if (worker.computeMilliseconds === null || worker.transferMilliseconds === null) return '';
  return `${formatDuration(worker.computeMilliseconds)} computing, ${formatDuration(worker.transferMilliseconds)} transfer`;
}
