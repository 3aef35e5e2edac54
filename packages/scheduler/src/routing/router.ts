/**
 * Routing: which replica of a stage gets a micro-batch. A router knows the workers of all stages, since one that holds
 * several (a layer range) carries the load of all of them.
 */
import type { Random } from '@tabweave/shared';
import { EarliestFinishRouter } from './earliest-finish.ts';
import { FixedRouter } from './fixed.ts';
import { StochasticRouter } from './stochastic.ts';
import { WeightedRoundRobinRouter } from './weighted-round-robin.ts';

/** Stages [from, to) that a worker holds, and micro-batches per second that it is planned for. */
export interface RoutedHolding {
  from: number;
  to: number;
  weight: number;
}

export interface PickRequest {
  /** Milliseconds of the driver's clock; 0 unless given. Bans end by it, and the earliest finish counts from it. */
  now?: number;
  /** Work in usual micro-batches: below 1 for the last of a step; 1 unless given. */
  size?: number;
  /** Workers that may be picked; all unless given. */
  allowed?: (worker: string) => boolean;
  /** Where pipelines are fixed: the one of this number. */
  microBatch?: number;
}

export interface Router {
  /** Adds a worker, level with the others, or changes what it holds; a ban on it stays. */
  add(worker: string, holding: RoutedHolding): void;
  /** Forgets the worker, its ban too. */
  remove(worker: string): void;
  /**
   * Picks a replica of the stage and charges it with the work.
   * @returns null where no worker of the stage may be picked.
   */
  pick(stage: number, request?: PickRequest): string | null;
  /** A task of the worker was done, in this time of computing. */
  observe(worker: string, taskMilliseconds: number, request?: Pick<PickRequest, 'now' | 'size'>): void;
  /** The worker is not to be picked before `until`, a time as in `PickRequest.now`; 0 ends a ban. */
  ban(worker: string, until: number): void;
}

export type RouterKind = 'fixed' | 'weighted-round-robin' | 'earliest-finish' | 'stochastic';

export interface RouterOptions {
  /** Workers of each pipeline by stage; needed by 'fixed'. */
  pipelines?: readonly (readonly string[])[];
  /** Needed by 'stochastic': breaks ties. */
  random?: Random;
}

/** @throws TypeError where the kind lacks its option. */
export function createRouter(kind: RouterKind, { pipelines, random }: RouterOptions = {}): Router {
  switch (kind) {
    case 'weighted-round-robin':
      return new WeightedRoundRobinRouter();
    case 'earliest-finish':
      return new EarliestFinishRouter();
    case 'stochastic':
      if (random === undefined) throw new TypeError('Stochastic routing needs `random`');
      return new StochasticRouter(random);
    case 'fixed':
      if (pipelines === undefined) throw new TypeError('Fixed routing needs `pipelines`');
      return new FixedRouter(pipelines);
  }
}
