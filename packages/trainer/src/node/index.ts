/** Headless workers in this process, a thread each, so that the process itself stays responsive. */
import type { VolunteerState } from '../session/index.ts';
import { HeadlessWorker } from './headless-worker.ts';
import type { HeadlessOptions } from './options.ts';

export type { HeadlessOptions } from './options.ts';

export interface HeadlessEvents {
  onState?: (worker: number, state: VolunteerState) => void;
  /** What the host does by itself, in words. */
  onNote?: (worker: number, text: string) => void;
}

export interface Headless {
  /** The present state of each worker; null while it has none. */
  readonly states: (VolunteerState | null)[];
  /** Resolves when every worker has ended and none begins afresh. */
  readonly over: Promise<void>;
  pause(reason: string): void;
  resume(): void;
  /** Each completes its present task, then ends. */
  finish(): Promise<void>;
  /** All end at once; the server gives their work to others. */
  stop(): Promise<void>;
}

/** Resolves when each worker is past its self-test, or has ended; `states` tells which. */
export async function startHeadless(
  options: HeadlessOptions,
  events: HeadlessEvents = {},
): Promise<Headless> {
  const { url, runId = null, backend = 'auto', name = '', workers = 1, dutyCycle = 1, slow = 1 } = options;
  const ready = Array.from({ length: workers }, () => Promise.withResolvers<void>());
  const fleet = ready.map(({ resolve }, worker) => {
    const nickname = name !== '' && workers > 1 ? `${name.slice(0, 37)} ${worker + 1}` : name;
    const volunteer = { url, runId, backend, name: nickname, dutyCycle, identity: null };
    return new HeadlessWorker({
      volunteer,
      slow,
      events: {
        onState: (state) => {
          if (state.phase !== 'starting') resolve();
          events.onState?.(worker, state);
        },
        onNote: (text) => events.onNote?.(worker, text),
      },
    });
  });
  await Promise.all(fleet.map((worker, i) => Promise.race([worker.over, ready[i]?.promise])));
  const all = async (act: (worker: HeadlessWorker) => Promise<void>): Promise<void> => {
    await Promise.all(fleet.map(act));
  };
  return {
    get states() {
      return fleet.map(({ state }) => state);
    },
    over: all((worker) => worker.over),
    pause: (reason) => fleet.forEach((worker) => worker.pause(reason)),
    resume: () => fleet.forEach((worker) => worker.resume()),
    finish: () => all((worker) => worker.finish()),
    stop: () => all((worker) => worker.stop()),
  };
}
