/** The workers that are connected, and what is remembered of the last ones that left (they return under their id). */
import { type WorkerMemory, WorkerState } from './worker-state.ts';

const rememberedWorkers = 256;

export class Roster {
  readonly #present = new Map<string, WorkerState>();
  readonly #departed = new Map<string, WorkerMemory>();

  join(id: string, maxPassSize: number, now: number): WorkerState {
    const worker = new WorkerState(id, maxPassSize, this.#departed.get(id));
    this.#departed.delete(id);
    worker.standing.refresh(now);
    this.#present.set(id, worker);
    return worker;
  }

  leave(id: string): void {
    const worker = this.#present.get(id);
    if (!worker) return;
    this.#present.delete(id);
    this.#departed.set(id, { speed: worker.speed, standing: worker.standing });
    for (const oldest of this.#departed.keys()) {
      if (this.#departed.size <= rememberedWorkers) break;
      this.#departed.delete(oldest);
    }
  }

  get(id: string): WorkerState | undefined {
    return this.#present.get(id);
  }

  /** Of a worker that is connected or has left lately. */
  standingOf(id: string): WorkerMemory['standing'] | undefined {
    return (this.#present.get(id) ?? this.#departed.get(id))?.standing;
  }

  all(): WorkerState[] {
    return [...this.#present.values()];
  }

  able(): WorkerState[] {
    return this.all().filter((worker) => worker.able);
  }
}
