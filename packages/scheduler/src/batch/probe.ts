/**
 * When to try a worker again that the plan leaves out: its estimate is as old as its last task, and its link may have
 * got better since. The trial is one sample, at intervals that double, so that its cost to the others vanishes.
 */
const firstInterval = 16;
const longestInterval = 1024;

interface Waiting {
  /** Steps since it was last given something. */
  steps: number;
  interval: number;
}

export class Probe {
  #waiting = new Map<string, Waiting>();

  /**
   * Counts a step and names the worker that is due for a trial, if any.
   * @param leftOut the workers with no share in this step, out of all that are there.
   */
  next(leftOut: readonly string[]): string | null {
    const waiting = new Map<string, Waiting>();
    let due: string | null = null;
    for (const worker of leftOut) {
      const record = this.#waiting.get(worker) ?? { steps: 0, interval: firstInterval };
      record.steps++;
      // One trial in a step: the others are due in the next ones.
      if (record.steps >= record.interval && due === null) {
        due = worker;
        record.steps = 0;
        record.interval = Math.min(longestInterval, record.interval * 2);
      }
      waiting.set(worker, record);
    }
    this.#waiting = waiting;
    return due;
  }
}
