/** SWARM's estimate of a task's time: an exponential mean of gain 0.1, its bias towards 0 corrected. */
const gain = 0.1;

export class TaskTime {
  #sum = 0;
  #weight = 0;

  observe(milliseconds: number): void {
    this.#sum += gain * (milliseconds - this.#sum);
    this.#weight += gain * (1 - this.#weight);
  }

  /** Milliseconds; null before the first observation. */
  get mean(): number | null {
    return this.#weight === 0 ? null : this.#sum / this.#weight;
  }
}
