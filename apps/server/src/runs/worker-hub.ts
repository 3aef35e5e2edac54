/** All connected workers, and which run each works for. */
import type { PublicRun } from '@tabweave/shared';
import type { RunDriver } from './run-driver.ts';
import type { WorkerLink } from './worker-link.ts';

export interface HubPorts {
  /** Open drivers of runs that are on. */
  drivers(): RunDriver[];
  describe(driver: RunDriver): PublicRun;
  /** What to tell a worker that there is nothing for. */
  idleReason(wantedRun: string | null): { code: 'no-run' | 'run-paused' | 'run-ended'; message: string };
}

export class WorkerHub {
  readonly #ports: HubPorts;
  readonly #links = new Map<string, WorkerLink>();
  readonly #assigned = new Map<string, RunDriver>();
  /** Workers that a run cannot use, with the reason: not offered to it again. */
  readonly #unfit = new Map<string, Map<string, string>>();

  constructor(ports: HubPorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#links.size;
  }

  links(): WorkerLink[] {
    return [...this.#links.values()];
  }

  driverOf(worker: string): RunDriver | undefined {
    return this.#assigned.get(worker);
  }

  /** The same identity twice (a duplicated tab, a connection not known to be dead): the newer one stays. */
  add(link: WorkerLink): void {
    const earlier = this.#links.get(link.id);
    if (earlier) {
      this.remove(earlier);
      earlier.replace();
    }
    this.#links.set(link.id, link);
    this.assign(link);
  }

  /** Removes the link if it is the one that is known under its id (a newer connection may have replaced it). */
  remove(link: WorkerLink): void {
    if (this.#links.get(link.id) !== link) return;
    this.#links.delete(link.id);
    this.#unfit.delete(link.id);
    this.#assigned.get(link.id)?.leave(link.id);
    this.#assigned.delete(link.id);
  }

  get(worker: string): WorkerLink | undefined {
    return this.#links.get(worker);
  }

  /** Gives a worker to the run it asked for, else to the one with the fewest workers that it can serve. */
  assign(link: WorkerLink): void {
    const open = this.#ports
      .drivers()
      .filter((driver) => link.wantedRun === null || driver.definition.id === link.wantedRun)
      .sort((a, b) => a.workerCount - b.workerCount);
    const unfit = this.#unfit.get(link.id) ?? new Map<string, string>();
    this.#unfit.set(link.id, unfit);
    for (const driver of open) {
      const { id } = driver.definition;
      if (unfit.has(id)) continue;
      link.showRun(this.#ports.describe(driver));
      const reason = driver.join(link);
      if (reason === null) {
        this.#assigned.set(link.id, driver);
        return;
      }
      unfit.set(id, reason);
    }
    link.showRun(null);
    const tooLarge = open
      .map((driver) => unfit.get(driver.definition.id))
      .find((reason) => reason !== undefined);
    if (tooLarge !== undefined) {
      link.notify({ code: 'set-aside', message: `This device cannot hold the model: ${tooLarge}.` });
      return;
    }
    link.notify(this.#ports.idleReason(link.wantedRun));
  }

  /** Offers work to every worker that has none: a run has opened. */
  assignIdle(): void {
    for (const link of this.#links.values()) if (!this.#assigned.has(link.id)) this.assign(link);
  }

  /** Takes the workers of a driver that has closed, and finds them other work. */
  release(driver: RunDriver): void {
    const freed = [...this.#assigned].filter(([, assigned]) => assigned === driver).map(([worker]) => worker);
    for (const worker of freed) this.#assigned.delete(worker);
    for (const worker of freed) {
      const link = this.#links.get(worker);
      if (link) this.assign(link);
    }
  }
}
