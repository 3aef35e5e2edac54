/** A connected worker, as a run sees it; the socket session implements it. */
import type { DeviceReport, Notice, PublicRun, Task } from '@tabweave/shared';

export interface WorkerTotals {
  acceptedSamples: number;
  acceptedContributions: number;
  refusedContributions: number;
}

export interface WorkerLink {
  readonly id: string;
  readonly name: string;
  readonly device: DeviceReport;
  /** The run that it asked for; null for any. */
  readonly wantedRun: string | null;
  readonly connectedAt: string;
  lastSeenAt: string;
  /** Over all runs and sessions. */
  readonly totals: WorkerTotals;
  /** Set while the volunteer has paused it. */
  pausedReason: string | null;
  sendTask(task: Task): void;
  cancel(lease: number, reason: string): void;
  notify(notice: Notice): void;
  showRun(run: PublicRun | null): void;
  /** The same worker has connected again: this connection ends. */
  replace(): void;
}
