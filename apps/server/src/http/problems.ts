/** Every refusal leaves as RFC 9457 problem details. */
import { ProblemError, fieldErrors, type Problem } from '@tabweave/shared';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { isDiskFull } from '../storage/disk-full.ts';

export function sendProblem(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply
    .status(problem.status)
    .header('content-type', 'application/problem+json')
    .send(JSON.stringify(problem));
}

export function toProblemError(error: unknown): ProblemError | null {
  if (error instanceof ProblemError) return error;
  if (hasZodFastifySchemaValidationErrors(error)) {
    const errors = error.validation.map((issue) => ({
      path: issue.instancePath.replace(/^\//, '').replaceAll('/', '.'),
      message: issue.message ?? 'invalid',
    }));
    const first = errors[0];
    const where = first
      ? `${first.path || error.validationContext || 'request'}: ${first.message}`
      : 'invalid';
    return new ProblemError('INVALID_INPUT', `The request is not valid: ${where}`, errors);
  }
  if (error instanceof z.ZodError) {
    return new ProblemError('INVALID_INPUT', 'The request is not valid.', fieldErrors(error));
  }
  const { statusCode, message } = error as Partial<FastifyError>;
  if (isDiskFull(error))
    return new ProblemError('STORAGE_FULL', 'The disk is full. Free some space and try again.');
  if (statusCode === 413) return new ProblemError('TOO_LARGE', message ?? 'Too large.');
  if (statusCode === 429) return new ProblemError('TOO_MANY', message ?? 'Too many requests.');
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ProblemError('INVALID_INPUT', message ?? 'The request is not valid.');
  }
  return null;
}

export function installProblems(app: FastifyInstance): void {
  app.setErrorHandler((error, request, reply) => {
    const known = toProblemError(error);
    if (!known) request.log.error(error);
    const problem = known ?? new ProblemError('INTERNAL', 'The server failed on this request; see its log.');
    return sendProblem(reply, problem.toProblem());
  });
}

export function sendNotFound(reply: FastifyReply, path: string): FastifyReply {
  return sendProblem(reply, new ProblemError('NOT_FOUND', `There is nothing at ${path}.`).toProblem());
}
