/**
 * Tells a model that has diverged from workers that compute nonsense: when nothing of a version has been accepted and
 * every connected worker reports values that are not finite, it is the model. As long as one has not, it is waited
 * for; a lone worker cannot stop a run either: it is set aside, and the run says what it saw.
 */
const workersNeeded = 2;
const reportsNeeded = 3;

export interface Divergence {
  /** Beyond doubt: the run had better halt. */
  certain: boolean;
  reason: string;
}

export class DivergenceWatch {
  #version = -1;
  #accepted = false;
  #reports = 0;
  #workers = new Set<string>();

  /**
   * @param connected ids of the workers that could give a result.
   * @returns what the reports so far mean, or null while they mean nothing.
   */
  nonFinite(worker: string, version: number, connected: readonly string[]): Divergence | null {
    this.#turn(version);
    this.#reports++;
    this.#workers.add(worker);
    const all = connected.every((id) => this.#workers.has(id));
    if (this.#accepted || !all || this.#reports < reportsNeeded) return null;
    const certain = this.#workers.size >= workersNeeded;
    const who = certain ? 'every worker' : 'the only worker';
    return {
      certain,
      reason: `At step ${version + 1} the gradients are not finite on ${who}: the model seems to have diverged. Stop this run and start one with a lower learning rate.`,
    };
  }

  accepted(version: number): void {
    this.#turn(version);
    this.#accepted = true;
  }

  reset(): void {
    this.#version = -1;
  }

  #turn(version: number): void {
    if (version === this.#version) return;
    this.#version = version;
    this.#accepted = false;
    this.#reports = 0;
    this.#workers.clear();
  }
}
