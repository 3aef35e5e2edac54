/**
 * The error catalogue: every refusal that a person or a program can meet, with its HTTP status and a title.
 * REST sends it as RFC 9457 problem details; sockets send the same object in an acknowledgement.
 */
import { z } from 'zod';

export const problemCatalogue = {
  INVALID_INPUT: { status: 400, title: 'The request does not fit its schema' },
  INVALID_MODEL: { status: 400, title: 'The model description is not usable' },
  INVALID_DATASET: { status: 400, title: 'The dataset is not usable' },
  INVALID_TOKENIZER: { status: 400, title: 'The tokenizer is not usable' },
  INCOMPATIBLE_RUN: { status: 400, title: 'Model, dataset and recipe do not fit each other' },
  UNAUTHORIZED: { status: 401, title: 'A valid admin token is needed' },
  FORBIDDEN: { status: 403, title: 'Not allowed' },
  NOT_FOUND: { status: 404, title: 'Not found' },
  CONFLICT: { status: 409, title: 'Not possible in the present state' },
  LEASE_EXPIRED: { status: 409, title: 'The lease of this task has ended' },
  DUPLICATE: { status: 409, title: 'Already counted' },
  TOO_LARGE: { status: 413, title: 'Larger than the limit' },
  INVALID_CONTRIBUTION: { status: 422, title: 'The contribution was refused' },
  PROTOCOL_MISMATCH: { status: 426, title: 'Page and server speak different protocol versions' },
  TOO_MANY: { status: 429, title: 'Over a limit of number or rate' },
  INTERNAL: { status: 500, title: 'The server failed; nothing accepted was lost' },
  STORAGE_FULL: { status: 507, title: 'The server cannot store more' },
  DRAINING: { status: 503, title: 'The server is shutting down' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problemCatalogue;

export const problemCodeSchema = z.enum(Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]]);

/** RFC 9457 problem details. `type` is `urn:tabweave:problem:<code>`; `errors` points at single fields. */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.number().int(),
  code: problemCodeSchema,
  detail: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof problemSchema>;

export interface FieldError {
  path: string;
  message: string;
}

/** An error meant for the person who caused it; `detail` says what was wrong, where, and what to do. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly errors: FieldError[] | undefined;

  constructor(code: ProblemCode, detail: string, errors?: FieldError[]) {
    super(detail);
    this.name = 'ProblemError';
    this.code = code;
    this.errors = errors;
  }

  get status(): number {
    return problemCatalogue[this.code].status;
  }

  toProblem(): Problem {
    const { status, title } = problemCatalogue[this.code];
    return {
      type: `urn:tabweave:problem:${this.code.toLowerCase().replaceAll('_', '-')}`,
      title,
      status,
      code: this.code,
      detail: this.message,
      ...(this.errors ? { errors: this.errors } : {}),
    };
  }
}

/** Field errors of a failed zod parse, with dotted paths. */
export function fieldErrors(error: z.ZodError): FieldError[] {
  return error.issues.slice(0, 20).map((issue) => ({
    path: issue.path.map(String).join('.'),
    message: issue.message,
  }));
}

/** Parses `value` or throws a ProblemError that names each wrong field. */
export function parseOrProblem<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = fieldErrors(result.error);
  const first = errors[0];
  const where =
    first && first.path !== '' ? `${first.path}: ${first.message}` : (first?.message ?? 'invalid');
  throw new ProblemError('INVALID_INPUT', `${what} is not valid: ${where}`, errors);
}
