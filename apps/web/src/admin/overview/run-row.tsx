import type { Run } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { formatCompact, formatCount, formatDuration, formatLoss } from '../../ui/index.ts';
import { RunProgress } from '../parts/run-progress.tsx';
import { RunStatusBadge } from '../parts/run-status.tsx';

export function RunRow({ run }: { run: Run }) {
  const values = [
    { label: 'Loss', value: formatLoss(run.trainLoss) },
    { label: 'Validation', value: formatLoss(run.validationLoss) },
    { label: 'Tokens/s', value: formatCompact(run.tokensPerSecond) },
    { label: 'Volunteers', value: formatCount(run.workers) },
    { label: 'Time left', value: formatDuration(run.etaSeconds === null ? null : run.etaSeconds * 1000) },
  ];
  return (
    <article className="relative rounded-xl border border-line bg-surface p-4 shadow-card hover:border-control sm:p-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h2 className="min-w-0 text-base font-semibold">
          {/* The whole card is the target; the name is the link. */}
          <Link
            to="/admin/runs/$runId"
            params={{ runId: run.id }}
            className="rounded after:absolute after:inset-0 after:rounded-xl hover:underline"
          >
            {run.name}
          </Link>
        </h2>
        <RunStatusBadge status={run.status} />
        <span className="ml-auto text-sm text-muted">
          {run.model.name}, {formatCompact(run.model.parameters)} parameters
        </span>
      </div>
      {run.activity !== '' && <p className="mt-1 text-sm text-muted">{run.activity}</p>}
      <div className="mt-3">
        <RunProgress run={run} label={`Progress of ${run.name}`} />
      </div>
      <dl className="mt-3 grid grid-cols-3 gap-x-4 gap-y-2 sm:grid-cols-5">
        {values.map(({ label, value }) => (
          <div key={label}>
            <dt className="text-sm text-muted">{label}</dt>
            <dd className="tabular font-medium">{value}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}
