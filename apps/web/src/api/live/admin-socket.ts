/** The dashboard's socket: says what it watches, writes what is pushed into the query cache. */
import type { QueryClient } from '@tanstack/react-query';
import type { AdminPushes, MetricPoint } from '@tabweave/shared';
import { io, type Socket } from 'socket.io-client';
import { mergePoints } from '../metrics/merge.ts';
import { keys } from '../keys.ts';
import { endSession } from '../session.ts';

/** `live`: the server pushes; `polling`: it does not, and pages ask it themselves. */
export type LinkState = 'connecting' | 'live' | 'polling';

interface AdminRequests {
  watch: (target: { runId: string | null }, reply: (answer: { ok: boolean }) => void) => void;
}

export class AdminSocket {
  readonly #socket: Socket<AdminPushes, AdminRequests>;
  readonly #cache: QueryClient;
  readonly #listeners = new Set<() => void>();
  /** Undefined while no page watches anything. */
  #watched: string | null | undefined;
  #state: LinkState = 'connecting';

  constructor(token: string, cache: QueryClient) {
    this.#cache = cache;
    this.#socket = io('/admin', { auth: { token }, reconnectionDelayMax: 5000 });
    this.#socket.on('connect', () => {
      this.#become('live');
      if (this.#watched !== undefined) this.#watch(this.#watched);
    });
    this.#socket.on('disconnect', () => this.#become('polling'));
    this.#socket.on('connect_error', ({ message }) => {
      if (message === 'UNAUTHORIZED') endSession(true);
      else this.#become('polling');
    });
    this.#socket.on('runs', (runs) => cache.setQueryData(keys.runs, runs));
    this.#socket.on('run', (run) => cache.setQueryData(keys.run(run.id), run));
    this.#socket.on('workers', ({ runId, workers }) => cache.setQueryData(keys.workers(runId), workers));
    this.#socket.on('metrics', ({ runId, points }) =>
      cache.setQueryData(keys.metrics(runId), (known: MetricPoint[] | undefined) =>
        mergePoints(known ?? [], points),
      ),
    );
  }

  readonly state = (): LinkState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Watches one run, or with null the list of runs; the server pushes one subject at a time. */
  watch(runId: string | null): void {
    this.#watched = runId;
    if (this.#socket.connected) this.#watch(runId);
  }

  close(): void {
    this.#socket.removeAllListeners();
    this.#socket.disconnect();
  }

  #watch(runId: string | null): void {
    this.#socket.emit('watch', { runId }, ({ ok }) => {
      // Points made while nobody listened are in no push.
      if (ok && runId !== null) void this.#cache.invalidateQueries({ queryKey: keys.metrics(runId) });
    });
  }

  #become(state: LinkState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }
}
