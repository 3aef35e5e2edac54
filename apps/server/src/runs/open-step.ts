/** What the driver sums up beside the gradient while a step is open. */
import type { Task } from '@tabweave/shared';

export class OpenStep {
  trainLossSum = 0;
  evaluationLossSum = 0;
  bytesUp = 0;
  readonly workers = new Set<string>();
  startedAt: number | null = null;

  accept(worker: string, kind: Task['kind'], lossSum: number, bytes: number): void {
    if (kind === 'train') this.trainLossSum += lossSum;
    else this.evaluationLossSum += lossSum;
    this.bytesUp += bytes;
    this.workers.add(worker);
  }
}
