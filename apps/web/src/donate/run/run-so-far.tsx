/** How far the run is and who works on it, with its curve. */
import type { PublicRun } from '@tabweave/shared';
import { formatCount } from '../format.ts';
import { RunChart } from './run-chart.tsx';
import { StepProgress } from './step-progress.tsx';

export function RunSoFar({ run }: { run: PublicRun }) {
  return (
    <RunChart run={run}>
      <div className="mb-4 space-y-3">
        <StepProgress run={run} />
        <p className="text-sm text-muted">{present(run)}</p>
      </div>
    </RunChart>
  );
}

/** Who works on it and what it does. */
function present({ status, workers, activity }: PublicRun): string {
  if (status !== 'running') return activity;
  if (workers === 0) return 'No volunteer at the moment: you would be the first.';
  const who = workers === 1 ? '1 volunteer works' : `${formatCount(workers)} volunteers work`;
  return `${who} on it now. ${activity}`;
}
