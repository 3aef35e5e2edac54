import type { Run } from '@tabweave/shared';
import { Progress, formatCount } from '../../ui/index.ts';

/** How far a run is: a bar, and the numbers beside it. */
export function RunProgress({ run, label }: { run: Run; label: string }) {
  return (
    <div className="flex items-center gap-3">
      <Progress
        label={label}
        value={run.step}
        max={run.maxSteps}
        valueText={`step ${run.step} of ${run.maxSteps}`}
      />
      <span className="tabular shrink-0 text-sm text-muted">
        {formatCount(run.step)} / {formatCount(run.maxSteps)} steps
      </span>
    </div>
  );
}
