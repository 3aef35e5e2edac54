/** Why a task of a volunteer ends without a contribution: three kinds, because the server is told different things. */
import type { FailureReason, Problem } from '@tabweave/shared';
import { EngineError } from '../engine/engine.ts';

/** The task cannot be completed here; the server is told the reason. */
export class TaskFailure extends Error {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TaskFailure';
    this.reason = reason;
  }
}

/** The task is no longer wanted, or the volunteer does not go on with it. */
export class TaskDropped extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TaskDropped';
  }
}

/** The server answered a message with a refusal. */
export class Refused extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = 'Refused';
    this.problem = problem;
  }
}

/** The reason and words for `task:failed`, or null where the server knows already or must not be told. */
export function toReport(error: unknown): { reason: FailureReason; message: string } | null {
  if (error instanceof TaskDropped) return null;
  if (error instanceof Refused) {
    const { code, detail } = error.problem;
    return code === 'LEASE_EXPIRED' || code === 'DUPLICATE'
      ? null
      : { reason: 'internal', message: `Refused by the server: ${detail}`.slice(0, 1000) };
  }
  if (error instanceof TaskFailure || error instanceof EngineError) {
    return { reason: error.reason, message: error.message.slice(0, 1000) };
  }
  return { reason: 'internal', message: messageOf(error).slice(0, 1000) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
