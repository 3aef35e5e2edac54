/** Every call of the REST API that the dashboard makes. All throw ApiError. */
import {
  datasetSchema,
  metricsSchema,
  modelSchema,
  overviewSchema,
  parametersRefSchema,
  runSchema,
  sessionSchema,
  workerSchema,
  type Dataset,
  type MetricPoint,
  type Model,
  type ParametersRef,
  type Run,
  type Worker,
} from '@tabweave/shared';
import { readAs, request, send } from './client.ts';
import type { Session } from './session.ts';
import { upload } from './upload.ts';

export type RunAction = 'start' | 'pause' | 'resume' | 'stop';
export interface Overview {
  runs: number;
  workersConnected: number;
  donateUrls: string[];
  secureDonateUrls: boolean;
  version: string;
}

export const exchangeToken = (token: string): Promise<Session> =>
  request(sessionSchema, '/session', { method: 'POST', json: { token } });
export const closeSession = (): Promise<unknown> => send('/session', { method: 'DELETE' });
export const getOverview = (signal?: AbortSignal): Promise<Overview> =>
  request(overviewSchema, '/overview', { signal });

const lists = {
  datasets: datasetSchema.array(),
  models: modelSchema.array(),
  runs: runSchema.array(),
  workers: workerSchema.array(),
};

async function list<K extends keyof typeof lists>(
  name: K,
  path: string,
  signal?: AbortSignal,
): Promise<ReturnType<(typeof lists)[K]['parse']>> {
  const body = (await (await send(path, { signal })).json()) as Record<string, unknown>;
  return readAs(lists[name], body[name]) as ReturnType<(typeof lists)[K]['parse']>;
}

export const listDatasets = (signal?: AbortSignal): Promise<Dataset[]> =>
  list('datasets', '/datasets', signal);
export const deleteDataset = (id: string): Promise<unknown> => send(`/datasets/${id}`, { method: 'DELETE' });
export async function uploadDataset(
  form: FormData,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<Dataset> {
  return readAs(datasetSchema, await upload('/datasets', form, onProgress, signal));
}
export async function encodeText(datasetId: string, text: string): Promise<number[]> {
  const response = await send(`/datasets/${datasetId}/encode`, { method: 'POST', json: { text } });
  return ((await response.json()) as { ids: number[] }).ids;
}
export async function decodeIds(datasetId: string, ids: number[]): Promise<string> {
  const response = await send(`/datasets/${datasetId}/decode`, { method: 'POST', json: { ids } });
  return ((await response.json()) as { text: string }).text;
}

export const listModels = (signal?: AbortSignal): Promise<Model[]> => list('models', '/models', signal);
export const createModel = (input: { name: string; config: unknown }): Promise<Model> =>
  request(modelSchema, '/models', { method: 'POST', json: input });
export const deleteModel = (id: string): Promise<unknown> => send(`/models/${id}`, { method: 'DELETE' });

export const listRuns = (signal?: AbortSignal): Promise<Run[]> => list('runs', '/runs', signal);
export const getRun = (id: string, signal?: AbortSignal): Promise<Run> =>
  request(runSchema, `/runs/${id}`, { signal });
export const createRun = (input: unknown): Promise<Run> =>
  request(runSchema, '/runs', { method: 'POST', json: input });
export const deleteRun = (id: string): Promise<unknown> => send(`/runs/${id}`, { method: 'DELETE' });
export const actOnRun = (id: string, action: RunAction): Promise<Run> =>
  request(runSchema, `/runs/${id}/${action}`, { method: 'POST' });
export const listWorkers = (id: string, signal?: AbortSignal): Promise<Worker[]> =>
  list('workers', `/runs/${id}/workers`, signal);
export const getParametersRef = (id: string): Promise<ParametersRef> =>
  request(parametersRefSchema, `/runs/${id}/parameters`);

const page = 20_000;

/** All points after step `after`, oldest first. */
export async function listMetrics(id: string, after: number, signal?: AbortSignal): Promise<MetricPoint[]> {
  const all: MetricPoint[] = [];
  for (let from = after; ; ) {
    const { points } = await request(metricsSchema, `/runs/${id}/metrics?after=${from}&limit=${page}`, {
      signal,
    });
    all.push(...points);
    const last = points.at(-1);
    if (last === undefined || points.length < page) return all;
    from = last.step;
  }
}
