/** What a volunteer's session tells its host (a page, or a Node process): enough to say in words what goes on. */
import type { DeviceReport, Notice, Problem, PublicRun, SelfTestReport, Task } from '@tabweave/shared';

export type VolunteerPhase =
  | 'starting' // choosing a back end, self-test
  | 'unsuitable' // self-test failed: no work will be asked for
  | 'connecting'
  | 'waiting' // connected; `notice` says for what
  | 'downloading'
  | 'computing'
  | 'uploading'
  | 'paused'
  | 'finishing' // completes the present task, then stops
  | 'stopped'
  | 'failed'; // `problem` or `message` says why; the host decides whether to begin afresh

export interface VolunteerState {
  phase: VolunteerPhase;
  /** Why it is in this phase, in words for the volunteer. */
  message: string;
  device: DeviceReport | null;
  selfTest: SelfTestReport | null;
  run: PublicRun | null;
  notice: Notice | null;
  /** Present task, with how many of its samples are done. */
  task: { kind: Task['kind']; version: number; samples: number; samplesDone: number } | null;
  /** The server's counts for this worker. */
  acceptedSamples: number;
  acceptedContributions: number;
  refusedContributions: number;
  /** Milliseconds of the last contribution's parts. */
  lastTimings: { download: number; compute: number; upload: number } | null;
  bytesDown: number;
  bytesUp: number;
  problem: Problem | null;
  /** When the next connection attempt is made, epoch milliseconds. */
  retryAt: number | null;
  /** Last events, newest first, for copyable diagnostics. At most 50. */
  log: { at: number; text: string }[];
}

export interface VolunteerOptions {
  /** Server address, for example `http://localhost:8080`. */
  url: string;
  /** The run to work for; null for any. */
  runId: string | null;
  /** Public nickname; empty for anonymous. */
  name: string;
  /** Share of time the device may be busy, in (0, 1]. */
  dutyCycle: number;
  /** `auto`: WebGPU, then WebGL, then WASM. */
  backend: 'auto' | 'webgpu' | 'webgl' | 'wasm' | 'cpu';
  /** Identity from an earlier session, so that the server knows the worker again. */
  identity: { workerId: string; secret: string } | null;
}

/** What a host may ask of a running session. */
export interface VolunteerControls {
  pause(reason: string): void;
  resume(): void;
  /** Completes and sends the present task, then stops. */
  finish(): Promise<void>;
  /** Stops at once; the server gives the work to someone else. */
  stop(): Promise<void>;
  setDutyCycle(share: number): void;
}
