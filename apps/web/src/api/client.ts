/** Requests to the REST API with the session's token. */
import type { z } from 'zod';
import { ApiError, toApiError, unreachable } from './api-error.ts';
import { currentSession, endSession } from './session.ts';

const base = '/api/v1';

interface RequestOptions {
  method?: 'GET' | 'POST' | 'DELETE';
  json?: unknown;
  signal?: AbortSignal | undefined;
}

/** @throws ApiError; a session that the server does not take is ended. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const session = currentSession();
  const headers = new Headers();
  if (session) headers.set('authorization', `Bearer ${session.token}`);
  if (options.json !== undefined) headers.set('content-type', 'application/json');
  let response: Response;
  try {
    response = await fetch(base + path, {
      method: options.method ?? 'GET',
      headers,
      body: options.json === undefined ? null : JSON.stringify(options.json),
      signal: options.signal ?? null,
    });
  } catch (error) {
    if (options.signal?.aborted === true) throw error;
    throw unreachable();
  }
  if (response.ok) return response;
  const error = toApiError(response.status, await response.json().catch(() => null));
  if (error.status === 401 && session) endSession(true);
  throw error;
}

/** @throws ApiError, also when the answer is not of the expected shape. */
export async function request<S extends z.ZodType>(
  schema: S,
  path: string,
  options: RequestOptions = {},
): Promise<z.output<S>> {
  const response = await send(path, options);
  return readAs(schema, await response.json().catch(() => null));
}

/** @throws ApiError when `body` does not fit: page and server are then of different versions. */
export function readAs<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new ApiError(
    0,
    'This page and the server do not understand each other',
    'The server was probably updated: reload the page.',
  );
}
