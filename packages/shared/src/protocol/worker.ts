/**
 * The worker protocol, on socket.io namespace `/worker`. Every message has a schema; the server answers each
 * with an acknowledgement, `{ok: true, ...}` or `{ok: false, problem}`.
 *
 * A worker says `hello`, gets `task`s, and for each either `task:failed` or a contribution:
 * `contribution:begin` (its acknowledgement is the permission to send), binary `frame`s with at most
 * `limits.framesInFlight` unacknowledged, then `contribution:end`, whose acknowledgement says whether it counted.
 */
import { z } from 'zod';
import type { publicRunSchema } from '../api/resources.ts';
import { idSchema } from '../api/resources.ts';
import { gpt2ConfigSchema } from '../model/gpt2-config.ts';
import { problemSchema } from '../problem.ts';
import { encodingSchema, parameterEncodingSchema } from '../tensor/codec.ts';

/** Raised with every change that an older page would misread. */
export const protocolVersion = 1;

const milliseconds = z.number().min(0).max(86_400_000);
const lease = z.number().int().positive();
const shortText = z.string().max(300);

/** What a device was measured to do before its first task; null where it was not measured. */
export const deviceProfileSchema = z.strictObject({
  /** Floating-point operations a second in large matrix products. */
  flopsPerSecond: z.number().nonnegative(),
  /** Memory read and written together. */
  bytesPerSecond: z.number().nonnegative(),
  /** Of one more small launch in a submit. */
  launchMicroseconds: z.number().nonnegative(),
  /** The largest single buffer that could be made. */
  largestBufferBytes: z.number().int().nonnegative(),
});
export type DeviceProfile = z.infer<typeof deviceProfileSchema>;

export const deviceReportSchema = z.strictObject({
  backend: z.enum(['webgpu', 'webgl', 'wasm', 'cpu']),
  /** Why a better back end is not used; empty when none is missing. */
  fallbackReason: shortText.default(''),
  environment: z.enum(['browser', 'node']),
  /** GPU vendor, architecture and description as the browser tells them. */
  adapter: shortText.default(''),
  /** A software adapter (no GPU behind it). */
  software: z.boolean().default(false),
  features: z.array(z.string().max(60)).max(60).default([]),
  /** Memory that a run may use on this device. */
  memoryBytes: z.number().int().positive(),
  maxBufferBytes: z.number().int().positive(),
  hardwareThreads: z.number().int().positive().max(4096).default(1),
  profile: deviceProfileSchema.nullable().default(null),
  userAgent: shortText.default(''),
});
export type DeviceReport = z.infer<typeof deviceReportSchema>;

export const selfTestReportSchema = z.strictObject({
  passed: z.boolean(),
  milliseconds,
  checks: z
    .array(z.strictObject({ name: z.string().max(60), passed: z.boolean(), detail: shortText.default('') }))
    .max(50),
  /** Kernels that this device gets wrong; their operations run in plain form. */
  switchedOff: z
    .array(z.strictObject({ name: z.string().max(60), reason: shortText }))
    .max(60)
    .default([]),
});
export type SelfTestReport = z.infer<typeof selfTestReportSchema>;

export const helloSchema = z.strictObject({
  protocol: z.number().int(),
  /** Both set when coming back, so that the server knows the worker again. */
  workerId: idSchema.optional(),
  secret: z.string().max(100).optional(),
  /** The run to work for; null for any. */
  runId: idSchema.nullable().default(null),
  /** A public nickname; empty for anonymous. */
  name: z.string().trim().max(40).default(''),
  device: deviceReportSchema,
  selfTest: selfTestReportSchema,
});
export type Hello = z.input<typeof helloSchema>;

export const helloReplySchema = z.object({
  workerId: idSchema,
  secret: z.string(),
  /** Counted for this worker over all its sessions. */
  acceptedSamples: z.number().int(),
  acceptedContributions: z.number().int(),
  refusedContributions: z.number().int(),
});
export type HelloReply = z.infer<typeof helloReplySchema>;

export const tokenRangeSchema = z.strictObject({
  start: z.number().int().nonnegative(),
  end: z.number().int().nonnegative(),
});

/** Server to worker: a leased unit of work. Sample windows follow from `sampling` (sampling/sampler.ts). */
export const taskSchema = z.strictObject({
  lease,
  runId: idSchema,
  kind: z.enum(['train', 'evaluate']),
  version: z.number().int().nonnegative(),
  config: gpt2ConfigSchema,
  parameters: z.strictObject({
    url: z.string(),
    hash: z.string(),
    bytes: z.number().int().positive(),
    encoding: parameterEncodingSchema,
  }),
  sampling: z.strictObject({
    seed: z.number().int(),
    globalBatch: z.number().int().positive(),
    blockSize: z.number().int().positive(),
    train: tokenRangeSchema,
    validation: tokenRangeSchema,
    evaluationSamples: z.number().int().positive(),
  }),
  data: z.strictObject({
    /** Little-endian unsigned integers of this width. */
    tokenBytes: z.union([z.literal(2), z.literal(4)]),
    /** Consecutive pieces of the token stream. */
    shards: z
      .array(
        z.strictObject({
          url: z.string(),
          hash: z.string(),
          start: z.number().int(),
          tokens: z.number().int(),
        }),
      )
      .min(1),
  }),
  /** Indices within the global batch (train) or the evaluation set (evaluate): start inclusive, end exclusive. */
  samples: tokenRangeSchema,
  /** At most this many samples on the device at one time; the rest by accumulation. */
  passSize: z.number().int().positive(),
  gradientEncoding: encodingSchema,
  /** Milliseconds until the lease ends, renewed by each `task:progress`. */
  leaseMilliseconds: milliseconds,
});
export type Task = z.infer<typeof taskSchema>;

export const taskProgressSchema = z.strictObject({
  lease,
  phase: z.enum(['download', 'compute', 'upload']),
  samplesDone: z.number().int().nonnegative(),
});

export const failureReasonSchema = z.enum([
  'out-of-memory',
  'device-lost',
  'shader-compilation',
  'gpu-error',
  'non-finite',
  'download',
  'bad-data',
  'cancelled',
  'internal',
]);
export type FailureReason = z.infer<typeof failureReasonSchema>;

export const taskFailedSchema = z.strictObject({
  lease,
  reason: failureReasonSchema,
  message: z.string().max(1000),
});

export const contributionBeginSchema = z.strictObject({
  lease,
  samples: tokenRangeSchema,
  /** Sum over the samples of their mean token loss. */
  lossSum: z.number(),
  encoding: encodingSchema,
  /** Encoded bytes of the gradient sum; 0 for `evaluate`. */
  bytes: z.number().int().nonnegative(),
  timings: z.strictObject({
    /** From receiving the task to its first work. */
    waitMilliseconds: milliseconds,
    downloadMilliseconds: milliseconds,
    computeMilliseconds: milliseconds,
  }),
  /** Whether compilation or warm-up fell into the compute time, which then does not enter the estimates. */
  cold: z.boolean(),
});
export type ContributionBegin = z.infer<typeof contributionBeginSchema>;

export const contributionEndSchema = z.strictObject({ lease, uploadMilliseconds: milliseconds });

export const contributionReceiptSchema = z.object({
  acceptedSamples: z.number().int(),
  totalSamples: z.number().int(),
  totalContributions: z.number().int(),
});
export type ContributionReceipt = z.infer<typeof contributionReceiptSchema>;

export const workerStatusSchema = z.strictObject({
  state: z.enum(['ready', 'paused', 'finishing']),
  reason: shortText.default(''),
});

export const cancelSchema = z.strictObject({ lease, reason: shortText });

/** What the server tells a worker about its place, so that every wait has a reason. */
export const noticeSchema = z.strictObject({
  code: z.enum([
    'no-run',
    'run-paused',
    'run-ended',
    'waiting-for-step',
    'no-share',
    'set-aside',
    // The same worker has connected again; this connection ends, and is not to come back.
    'replaced',
    'draining',
    'working',
  ]),
  message: z.string().max(1000),
});
export type Notice = z.infer<typeof noticeSchema>;

export const problemReplySchema = z.object({ ok: z.literal(false), problem: problemSchema });
export type Reply<T> = ({ ok: true } & T) | z.infer<typeof problemReplySchema>;

/** Events from worker to server, for socket.io's types. */
export interface WorkerToServer {
  hello: (hello: Hello, reply: (reply: Reply<HelloReply>) => void) => void;
  'task:progress': (progress: z.infer<typeof taskProgressSchema>) => void;
  'task:failed': (failure: z.infer<typeof taskFailedSchema>, reply: (reply: Reply<object>) => void) => void;
  'contribution:begin': (begin: ContributionBegin, reply: (reply: Reply<object>) => void) => void;
  frame: (frame: ArrayBuffer | Uint8Array, reply: (reply: Reply<object>) => void) => void;
  'contribution:end': (
    end: z.infer<typeof contributionEndSchema>,
    reply: (reply: Reply<ContributionReceipt>) => void,
  ) => void;
  status: (status: z.infer<typeof workerStatusSchema>, reply: (reply: Reply<object>) => void) => void;
}

/** Events from server to worker. */
export interface ServerToWorker {
  task: (task: Task) => void;
  'task:cancel': (cancel: z.infer<typeof cancelSchema>) => void;
  notice: (notice: Notice) => void;
  run: (run: z.infer<typeof publicRunSchema> | null) => void;
}
