/** The REST API as a test uses it: typed results, and problem documents where a refusal is expected. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  problemSchema,
  type Dataset,
  type Gpt2ConfigJson,
  type MetricPoint,
  type Model,
  type ParametersRef,
  type Problem,
  type RecipeInput,
  type Run,
  type Strategy,
  type Worker,
} from '@tabweave/shared';

export interface RunRequest {
  text: string;
  config: Omit<Gpt2ConfigJson, 'vocab_size'>;
  recipe: RecipeInput;
  strategy?: Partial<Strategy>;
  name?: string;
}

export class ApiClient {
  readonly #url: string;
  readonly #token: string;

  constructor(server: { url: string; adminToken: string }) {
    this.#url = server.url;
    this.#token = server.adminToken;
  }

  /** A response as it comes. `path` is below /api/v1. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${this.#token}`);
    return fetch(`${this.#url}/api/v1${path}`, { ...init, headers });
  }

  /** @throws Error with the problem's words when the server refuses. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.fetch(path, jsonRequest(method, body));
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  }

  /** A request that must be refused. */
  async refusal(path: string, init: RequestInit): Promise<Problem> {
    const response = await this.fetch(path, init);
    if (response.ok) throw new Error(`${path} was accepted: ${response.status} ${await response.text()}`);
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('application/problem+json')) throw new Error(`${path} was refused as ${type}`);
    const problem = problemSchema.parse(await response.json());
    if (problem.status !== response.status)
      throw new Error(`${path}: status ${response.status}, not as it says`);
    return problem;
  }

  async uploadText(text: string, fields: Record<string, string> = {}): Promise<Dataset> {
    const response = await this.fetch('/datasets', { method: 'POST', body: textForm(text, fields) });
    if (!response.ok) throw new Error(`POST /datasets: ${response.status} ${await response.text()}`);
    return (await response.json()) as Dataset;
  }

  /** Dataset, model and run in one go; the run is a draft. */
  async createRun({ text, config, recipe, strategy = {}, name = 'test' }: RunRequest): Promise<Run> {
    const dataset = await this.uploadText(text, { name });
    const model = await this.call<Model>('POST', '/models', {
      name,
      config: { ...config, vocab_size: dataset.vocabularySize },
    });
    return this.call<Run>('POST', '/runs', {
      name,
      modelId: model.id,
      datasetId: dataset.id,
      recipe,
      strategy,
    });
  }

  act(runId: string, action: 'start' | 'pause' | 'resume' | 'stop'): Promise<Run> {
    return this.call<Run>('POST', `/runs/${runId}/${action}`);
  }

  run(runId: string): Promise<Run> {
    return this.call<Run>('GET', `/runs/${runId}`);
  }

  async points(runId: string): Promise<MetricPoint[]> {
    return (await this.call<{ points: MetricPoint[] }>('GET', `/runs/${runId}/metrics`)).points;
  }

  async workers(runId: string): Promise<Worker[]> {
    return (await this.call<{ workers: Worker[] }>('GET', `/runs/${runId}/workers`)).workers;
  }

  /** The float32 parameters at the last committed version (runs with float32 parameter encoding). */
  async parameters(runId: string): Promise<{ reference: ParametersRef; values: Float32Array }> {
    const reference = await this.call<ParametersRef>('GET', `/runs/${runId}/parameters`);
    const response = await fetch(new URL(reference.url, this.#url));
    if (!response.ok) throw new Error(`${reference.url}: ${response.status}`);
    return { reference, values: new Float32Array(await response.arrayBuffer()) };
  }

  async checkpoint(runId: string): Promise<Uint8Array> {
    const response = await this.fetch(`/runs/${runId}/checkpoint`);
    if (!response.ok) throw new Error(`checkpoint: ${response.status} ${await response.text()}`);
    return new Uint8Array(await response.arrayBuffer());
  }

  /** Polls until `accept` holds for the run; `what` names it in the failure. */
  async until(
    runId: string,
    what: string,
    accept: (run: Run) => boolean,
    withinMilliseconds = 60_000,
  ): Promise<Run> {
    const deadline = Date.now() + withinMilliseconds;
    for (;;) {
      const run = await this.run(runId);
      if (accept(run)) return run;
      if (Date.now() > deadline) {
        throw new Error(`Waited ${withinMilliseconds} ms for ${what}; the run is ${JSON.stringify(run)}`);
      }
      await sleep(50);
    }
  }
}

export function jsonRequest(method: string, body?: unknown): RequestInit {
  return body === undefined
    ? { method }
    : { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** A dataset upload: the fields first, then the file. */
export function textForm(
  text: string | Uint8Array<ArrayBuffer>,
  fields: Record<string, string> = {},
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([text], { type: 'text/plain' }), 'text.txt');
  return form;
}
