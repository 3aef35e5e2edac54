import type { Run } from '@tabweave/shared';
import { Stat, StatList, formatCompact, formatCount, formatDuration, formatLoss } from '../../ui/index.ts';

export function RunStats({ run }: { run: Run }) {
  const perplexity = run.validationLoss === null ? null : Math.exp(run.validationLoss);
  return (
    <StatList>
      <Stat label="Training loss" value={formatLoss(run.trainLoss)} />
      <Stat
        label="Validation loss"
        value={formatLoss(run.validationLoss)}
        hint={perplexity === null ? undefined : `perplexity ${formatCompact(perplexity)}`}
      />
      <Stat label="Tokens per second" value={formatCompact(run.tokensPerSecond)} />
      <Stat label="Volunteers" value={formatCount(run.workers)} />
      <Stat
        label="Time left"
        value={formatDuration(run.etaSeconds === null ? null : run.etaSeconds * 1000)}
      />
      <Stat
        label="Model"
        value={formatCompact(run.model.parameters)}
        hint={`parameters, ${run.model.name}`}
      />
    </StatList>
  );
}
