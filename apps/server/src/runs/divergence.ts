/**
 * Tells a model that has diverged from a worker that computes nonsense: when nothing of a version has been accepted
 * and several workers (or a lone one, several times) report values that are not finite, it is the model.
 */
const workersNeeded = 2;
const reportsNeeded = 3;

export class DivergenceWatch {
  #version = -1;
  #accepted = false;
  #reports = 0;
  #workers = new Set<string>();

  /** @returns the reason to halt, or null. */
  nonFinite(worker: string, version: number, connectedWorkers: number): string | null {
    this.#turn(version);
    this.#reports++;
    this.#workers.add(worker);
    const enoughWorkers = this.#workers.size >= Math.min(workersNeeded, connectedWorkers);
    if (this.#accepted || this.#reports < reportsNeeded || !enoughWorkers) return null;
    return `The model has diverged at step ${version}: gradients are not finite or far too large on every worker. Lower the learning rate or the gradient clip and start a new run.`;
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
