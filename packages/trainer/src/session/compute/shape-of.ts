import type { Task } from '@tabweave/shared';

/** Names run, model and block size. */
export function shapeOf(task: Task): string {
  const { vocabSize, positions, width, layers, heads, inner } = task.config;
  return [task.runId, vocabSize, positions, width, layers, heads, inner, task.sampling.blockSize].join(' ');
}
