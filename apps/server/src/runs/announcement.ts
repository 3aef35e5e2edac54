/** Whether an announced contribution is what its task asked for; its bytes are checked when they are there. */
import { ProblemError, encodedBytes, type ContributionBegin } from '@tabweave/shared';
import type { LeasedTask } from '@tabweave/scheduler';
import type { RunDefinition } from './definition.ts';

/** @throws ProblemError INVALID_CONTRIBUTION that says what differs. */
export function checkFitsTask(definition: RunDefinition, task: LeasedTask, begin: ContributionBegin): void {
  const refuse = (why: string): never => {
    throw new ProblemError('INVALID_CONTRIBUTION', `The contribution does not fit its task: ${why}.`);
  };
  const { start, end } = task.samples;
  if (begin.samples.start !== start || begin.samples.end !== end) {
    refuse(`it covers samples ${begin.samples.start} to ${begin.samples.end}, not ${start} to ${end}`);
  }
  const { gradientEncoding } = definition.strategy;
  if (begin.encoding !== gradientEncoding) refuse(`encoding ${begin.encoding}, not ${gradientEncoding}`);
  const expected = task.kind === 'train' ? encodedBytes(definition.model.parameters, gradientEncoding) : 0;
  if (begin.bytes !== expected) refuse(`${begin.bytes} bytes, not ${expected}`);
}
