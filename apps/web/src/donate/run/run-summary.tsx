/** The run in short, for the page of a tab that works for it. */
import type { PublicRun } from '@tabweave/shared';
import { Card, Stat } from '../../ui/index.ts';
import { formatCompact, formatCount } from '../format.ts';
import { StepProgress } from './step-progress.tsx';

const loss = (value: number | null): string => (value === null ? '–' : value.toFixed(3));

export function RunSummary({ run }: { run: PublicRun }) {
  return (
    <Card title={run.name}>
      <div className="space-y-4">
        <StepProgress run={run} />
        <dl className="grid grid-cols-2 gap-4 sm:grid-cols-4">
          <Stat label="Training loss" value={loss(run.trainLoss)} />
          <Stat label="Validation loss" value={loss(run.validationLoss)} />
          <Stat label="Volunteers now" value={formatCount(run.workers)} />
          <Stat
            label="Tokens/s"
            value={run.tokensPerSecond === null ? '–' : formatCompact(run.tokensPerSecond)}
          />
        </dl>
        <p className="text-sm text-muted">{run.activity}</p>
      </div>
    </Card>
  );
}
