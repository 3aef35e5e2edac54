/** Relations between a task's fields that its schema cannot say. */
import { evaluationSampleCount, taskSchema, windowsIn, type Task } from '@tabweave/shared';
import { TaskFailure } from '../failure.ts';

/** Tokens of one task held in memory: 1 GiB as int32. */
const mostTokens = 2 ** 28;

export type ReadTask = { task: Task } | { lease: number | null; message: string };

/** Reads a task message. Where it is not usable, the lease, if it has one, tells what to give back. */
export function readTask(payload: unknown): ReadTask {
  const parsed = taskSchema.safeParse(payload);
  if (parsed.success) return { task: parsed.data };
  const issue = parsed.error.issues[0];
  const lease = taskSchema.shape.lease.safeParse((payload as { lease?: unknown } | null)?.lease);
  return {
    lease: lease.success ? lease.data : null,
    message: `This worker cannot read the task: ${issue ? `${issue.path.join('.')}: ${issue.message}` : 'invalid'}. Reloading the page may help.`,
  };
}

/** @throws TaskFailure `bad-data` when the task contradicts itself. */
export function checkTask(task: Task): void {
  const refuse = (why: string): never => {
    throw new TaskFailure('bad-data', `The task contradicts itself: ${why}.`);
  };
  const { sampling, config, samples, kind } = task;
  if (sampling.blockSize > config.positions) {
    refuse(`samples of ${sampling.blockSize} tokens, for a model of ${config.positions} positions`);
  }
  if (config.width % config.heads !== 0) {
    refuse(`width ${config.width} is not a multiple of its ${config.heads} heads`);
  }
  if (kind === 'train' && windowsIn(sampling.train, sampling.blockSize) === 0) {
    refuse('the training data are shorter than one sample');
  }
  const available = kind === 'train' ? sampling.globalBatch : evaluationSampleCount(sampling);
  if (samples.start >= samples.end || samples.end > available) {
    refuse(`samples ${samples.start} to ${samples.end} of ${available}`);
  }
  if ((samples.end - samples.start) * (sampling.blockSize + 1) > mostTokens) {
    refuse(
      `${samples.end - samples.start} samples of ${sampling.blockSize} tokens are more than a worker can hold`,
    );
  }
}
