/**
 * What a planner knows: the layers of a model, the devices, and the links between them.
 *
 * Indices are the same in the types, the code and the docs: l layer, i stage, j replica, d device (an index into
 * `World.devices`). Units: seconds, bytes, FLOPs, samples.
 */
import type { Layer } from '@tabweave/shared';

/** Device d, in expected values (see `cost/` for how they are estimated). */
export interface Device {
  /** Names the worker. */
  id: string;
  /** FLOP/s that it sustains. */
  rate: number;
  /** Seconds of a task that do not grow with its samples. */
  fixedSeconds: number;
  /** What the worker may use. */
  memoryBytes: number;
  /** Chance of leaving, per second. */
  hazard: number;
  /** Where it is; devices of one site share a link class. */
  site: string;
}

/** Time of a transfer: latencySeconds + bytes / bytesPerSecond. */
export interface Link {
  /** One way. */
  latencySeconds: number;
  bytesPerSecond: number;
}

export interface Network {
  /** From device d to device e, by whatever path a boundary tensor takes between them (direct, or over the server). */
  between(d: number, e: number): Link;
  /** From device d to the server. */
  up(d: number): Link;
  /** From the server to device d. */
  down(d: number): Link;
}

export interface Server {
  /** Bytes per second that it sends and takes in, over all workers together. */
  upBytesPerSecond: number;
  downBytesPerSecond: number;
  /** Seconds to make one optimizer step durable, per byte of float32 parameters, and at least. */
  commitSecondsPerByte: number;
  commitSeconds: number;
}

export interface World {
  devices: readonly Device[];
  network: Network;
  server: Server;
}

/** What is trained, and how its tensors travel. */
export interface Workload {
  layers: readonly Layer[];
  /** Samples of one optimizer step. */
  globalBatch: number;
  /** Bytes on the wire per byte of float32: 1, 0.5 (float16), 0.25 (int8). */
  boundaryScale: number;
  gradientScale: number;
  parameterScale: number;
}

export interface Problem {
  workload: Workload;
  world: World;
}
