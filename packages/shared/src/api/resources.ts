/** REST resources: what the API takes and gives, and what the dashboard's socket pushes. */
import { z } from 'zod';
import { limits } from '../limits.ts';
import { gpt2ConfigJsonSchema, gpt2ConfigSchema } from '../model/gpt2-config.ts';
import { tokenizerKindSchema } from '../tokenizer/tokenizer.ts';
import { recipeSchema, strategySchema } from './recipe.ts';

export const idSchema = z.string().regex(/^[a-z0-9]{4,40}$/, 'an id has 4 to 40 characters a-z and 0-9');
const nameSchema = z.string().trim().min(1).max(limits.nameLength);
const descriptionSchema = z.string().trim().max(limits.descriptionLength).default('');
const timestamp = z.iso.datetime();
const warnings = z.array(z.string());

export const datasetSchema = z
  .object({
    id: idSchema,
    name: z.string(),
    description: z.string(),
    license: z.string(),
    tokenizer: tokenizerKindSchema,
    vocabularySize: z.number().int(),
    bytes: z.number().int(),
    tokens: z.number().int(),
    trainTokens: z.number().int(),
    validationTokens: z.number().int(),
    /** First characters of the text. */
    preview: z.string(),
    createdAt: timestamp,
  })
  .meta({ id: 'Dataset' });
export type Dataset = z.infer<typeof datasetSchema>;

/** Text fields of the multipart upload; the files are `file` and, for `huggingface`, `tokenizerFile`. */
export const datasetFieldsSchema = z.strictObject({
  name: nameSchema.optional(),
  description: descriptionSchema,
  /** Licence or origin of the text, shown to volunteers. */
  license: z.string().trim().max(limits.nameLength).default(''),
  tokenizer: tokenizerKindSchema.default('character'),
  validationFraction: z
    .union([z.number(), z.string().trim().min(1)])
    .transform(Number)
    .pipe(z.number().min(0).max(0.5))
    .default(0.1),
});

export const modelInputSchema = z
  .strictObject({ name: nameSchema, description: descriptionSchema, config: gpt2ConfigJsonSchema })
  .meta({ id: 'ModelRequest' });

export const modelSchema = z
  .object({
    id: idSchema,
    name: z.string(),
    description: z.string(),
    config: gpt2ConfigSchema,
    parameters: z.number().int(),
    warnings,
    createdAt: timestamp,
  })
  .meta({ id: 'Model' });
export type Model = z.infer<typeof modelSchema>;

export const runInputSchema = z
  .strictObject({
    name: nameSchema,
    /** Shown to volunteers: what is trained, and why. */
    description: descriptionSchema,
    modelId: idSchema,
    datasetId: idSchema,
    recipe: recipeSchema,
    strategy: strategySchema.default(strategySchema.parse({})),
  })
  .meta({ id: 'RunRequest' });

export const runStatusSchema = z.enum(['draft', 'running', 'paused', 'stopped', 'finished', 'failed']);
export type RunStatus = z.infer<typeof runStatusSchema>;

export const metricPointSchema = z
  .object({
    /** Parameter version that this step made: 1 for the first. */
    step: z.number().int(),
    trainLoss: z.number(),
    /** Validation loss of the parameters that this step made; null until it is measured, or where none is due. */
    validationLoss: z.number().nullable(),
    learningRate: z.number(),
    /** Global norm before clipping. */
    gradientNorm: z.number(),
    clipped: z.boolean(),
    samples: z.number().int(),
    tokensPerSecond: z.number(),
    stepMilliseconds: z.number(),
    workers: z.number().int(),
    /** Tasks that went back to the pool in this step. */
    requeued: z.number().int(),
    /** Contributions refused in this step. */
    refused: z.number().int(),
    bytesUp: z.number().int(),
    at: timestamp,
  })
  .meta({ id: 'MetricPoint' });
export type MetricPoint = z.infer<typeof metricPointSchema>;

export const metricsSchema = z.object({ points: z.array(metricPointSchema) }).meta({ id: 'Metrics' });
export const metricsQuerySchema = z.strictObject({
  /** Only points after this step. */
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(100_000).default(10_000),
  format: z.enum(['json', 'csv']).default('json'),
});

export const workerStateSchema = z.enum(['idle', 'working', 'paused', 'set-aside', 'disconnected']);
export type WorkerState = z.infer<typeof workerStateSchema>;

export const workerSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    backend: z.enum(['webgpu', 'webgl', 'wasm', 'cpu']),
    adapter: z.string(),
    environment: z.enum(['browser', 'node']),
    state: workerStateSchema,
    /** Why it is in this state, in words; empty where the state says it all. */
    reason: z.string(),
    /** Samples it gets per step; 0 before its first plan. */
    microBatch: z.number().int(),
    /** Samples on the device at one time. */
    passSize: z.number().int(),
    /** Smoothed time from lease to accepted contribution; null before the first. */
    stepMilliseconds: z.number().nullable(),
    computeMilliseconds: z.number().nullable(),
    transferMilliseconds: z.number().nullable(),
    /** microBatch / globalBatch. */
    share: z.number(),
    samplesPerSecond: z.number().nullable(),
    acceptedSamples: z.number().int(),
    acceptedContributions: z.number().int(),
    refusedContributions: z.number().int(),
    failures: z.number().int(),
    connectedAt: timestamp,
    lastSeenAt: timestamp,
  })
  .meta({ id: 'Worker' });
export type Worker = z.infer<typeof workerSchema>;

/** What a volunteer sees of a run. */
export const publicRunSchema = z
  .object({
    id: idSchema,
    name: z.string(),
    description: z.string(),
    status: runStatusSchema,
    /** What it is doing or waiting for, in words. */
    activity: z.string(),
    model: z.object({ name: z.string(), parameters: z.number().int() }),
    dataset: z.object({ name: z.string(), license: z.string(), tokens: z.number().int() }),
    step: z.number().int(),
    maxSteps: z.number().int(),
    trainLoss: z.number().nullable(),
    validationLoss: z.number().nullable(),
    tokensPerSecond: z.number().nullable(),
    workers: z.number().int(),
  })
  .meta({ id: 'PublicRun' });
export type PublicRun = z.infer<typeof publicRunSchema>;

export const runSchema = publicRunSchema
  .extend({
    modelId: idSchema,
    datasetId: idSchema,
    config: gpt2ConfigSchema,
    recipe: recipeSchema,
    strategy: strategySchema,
    /** SHA-256 of the float32 parameters at version `step`; null before the run has any. */
    parametersHash: z.string().nullable(),
    parameterBytes: z.number().int(),
    /** Seconds to the last step at the present speed; null while unknown. */
    etaSeconds: z.number().nullable(),
    memory: z.object({
      workerFixedBytes: z.number().int(),
      workerPerSampleBytes: z.number().int(),
      serverBytes: z.number().int(),
    }),
    warnings,
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Run' });
export type Run = z.infer<typeof runSchema>;

export const sessionInputSchema = z.strictObject({ token: z.string().min(1).max(200) });
/** A session token for `Authorization: Bearer`, got for a one-time link token or the admin token. */
export const sessionSchema = z.object({ token: z.string(), expiresAt: timestamp });

export const encodeInputSchema = z.strictObject({ text: z.string().max(20_000) });
export const decodeInputSchema = z.strictObject({
  ids: z.array(z.number().int().nonnegative()).max(20_000),
});

/** Where to fetch the present parameters of a run, for evaluating it elsewhere (the playground). */
export const parametersRefSchema = z
  .object({
    version: z.number().int(),
    hash: z.string(),
    url: z.string(),
    bytes: z.number().int(),
    encoding: z.enum(['float32', 'float16']),
  })
  .meta({ id: 'ParametersRef' });
export type ParametersRef = z.infer<typeof parametersRefSchema>;

export const overviewSchema = z
  .object({
    runs: z.number().int(),
    workersConnected: z.number().int(),
    donateUrls: z.array(z.string()),
    secureDonateUrls: z.boolean(),
    version: z.string(),
  })
  .meta({ id: 'Overview' });

/** Events that the server pushes on the admin socket. */
export interface AdminPushes {
  runs: (runs: Run[]) => void;
  run: (run: Run) => void;
  metrics: (payload: { runId: string; points: MetricPoint[] }) => void;
  workers: (payload: { runId: string; workers: Worker[] }) => void;
}
export const watchSchema = z.strictObject({ runId: idSchema.nullable() });
