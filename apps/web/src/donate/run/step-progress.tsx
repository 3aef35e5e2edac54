import type { PublicRun } from '@tabweave/shared';
import { Progress } from '../../ui/index.ts';
import { formatCount } from '../format.ts';

/** How far the run is. */
export function StepProgress({ run }: { run: PublicRun }) {
  return (
    <div className="space-y-1">
      <div className="flex flex-wrap justify-between gap-x-4 text-sm">
        <span>
          Step <strong className="tabular">{formatCount(run.step)}</strong> of {formatCount(run.maxSteps)}
        </span>
        <span className="text-muted tabular">{Math.floor((100 * run.step) / run.maxSteps)} %</span>
      </div>
      <Progress value={run.step} max={run.maxSteps} label="Steps of the run" />
    </div>
  );
}
