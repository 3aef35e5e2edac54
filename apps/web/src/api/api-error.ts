import { problemSchema, type FieldError, type Problem, type ProblemCode } from '@tabweave/shared';

/** A request that was not answered as hoped: refused by the server, or never answered. */
export class ApiError extends Error {
  /** 0 where no answer came. */
  readonly status: number;
  readonly title: string;
  readonly code: ProblemCode | null;
  readonly fields: readonly FieldError[];

  constructor(status: number, title: string, detail: string, problem?: Problem) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.title = title;
    this.code = problem?.code ?? null;
    this.fields = problem?.errors ?? [];
  }
}

/** An error from an answer's body, which is problem details (RFC 9457) unless something else answered. */
export function toApiError(status: number, body: unknown): ApiError {
  const problem = problemSchema.safeParse(body);
  if (problem.success) {
    return new ApiError(status, problem.data.title, problem.data.detail, problem.data);
  }
  return new ApiError(
    status,
    'The server did not answer as expected',
    `It answered with status ${status}. If it runs behind a proxy, look there; otherwise see its log.`,
  );
}

export function unreachable(): ApiError {
  return new ApiError(
    0,
    'The server cannot be reached',
    'Check that it is running and that this device is on its network, then try again.',
  );
}

/** Title and detail of whatever was thrown, for an alert. */
export function errorWords(error: unknown): { title: string; detail: string } {
  if (error instanceof ApiError) return { title: error.title, detail: error.message };
  return { title: 'Something failed', detail: error instanceof Error ? error.message : String(error) };
}
