/** What the page reads from the server without any right. */
import { metricPointSchema, publicRunSchema, type MetricPoint, type PublicRun } from '@tabweave/shared';

/** The server answered, and not with what was asked for. */
export class AnswerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'AnswerError';
    this.status = status;
  }
}

/** @throws AnswerError, or TypeError when the server cannot be reached. */
async function get(path: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  const response = await fetch(`/api/v1/public${path}`, { signal });
  const body = (await response.json().catch(() => null)) as Record<string, unknown> | null;
  if (response.ok && body !== null) return body;
  const detail = typeof body?.detail === 'string' ? body.detail : `The server answered ${response.status}.`;
  throw new AnswerError(response.status, detail);
}

export async function fetchRuns(signal: AbortSignal): Promise<PublicRun[]> {
  const { runs } = await get('/runs', signal);
  return publicRunSchema.array().parse(runs);
}

export async function fetchRun(id: string, signal: AbortSignal): Promise<PublicRun> {
  return publicRunSchema.parse(await get(`/runs/${encodeURIComponent(id)}`, signal));
}

export async function fetchMetrics(id: string, signal: AbortSignal): Promise<MetricPoint[]> {
  const { points } = await get(`/runs/${encodeURIComponent(id)}/metrics`, signal);
  return metricPointSchema.array().parse(points);
}
