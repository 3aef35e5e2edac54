/** The runs that can be helped, where there are several; or that there is none. */
import type { PublicRun } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Sprout } from 'lucide-react';
import { Badge, EmptyState, Spinner } from '../../ui/index.ts';
import { formatCompact, formatCount } from '../format.ts';
import { useTabTitle } from '../hooks/use-tab-title.ts';
import { Unreachable } from './run-not-there.tsx';
import { isOpen, statusTones, statusWords } from './run-status.ts';

interface Properties {
  /** Null while it is not known. */
  runs: PublicRun[] | null;
  error: Error | null;
  onRetry: () => void;
}

export function ChooseRun({ runs, error, onRetry }: Properties) {
  useTabTitle('Help to train · Tabweave');
  if (runs === null) {
    return error ? <Unreachable error={error} onRetry={onRetry} /> : <Spinner label="Asking the server…" />;
  }
  const open = runs.filter(isOpen);
  const closed = runs.filter((run) => !isOpen(run));
  return (
    <div className="space-y-8">
      {open.length === 0 ? (
        <EmptyState icon={Sprout} title="Nothing to train at the moment">
          No run needs volunteers now. This page looks again every few seconds: leave it open, or come back
          later. Whoever runs the server starts runs in the dashboard.
        </EmptyState>
      ) : (
        <section className="space-y-4">
          <h1 className="text-2xl font-semibold">What would you like to help train?</h1>
          <RunList runs={open} />
        </section>
      )}
      {closed.length === 0 ? null : (
        <section className="space-y-4">
          <h2 className="text-lg font-semibold">Ended runs</h2>
          <RunList runs={closed} />
        </section>
      )}
    </div>
  );
}

function RunList({ runs }: { runs: PublicRun[] }) {
  return (
    <ul className="grid gap-4 md:grid-cols-2">
      {runs.map((run) => (
        <li key={run.id}>
          <Link
            to="/donate/$runId"
            params={{ runId: run.id }}
            className="block h-full rounded-xl border border-line bg-surface p-4 shadow-card hover:border-accent"
          >
            <span className="flex flex-wrap items-center gap-2">
              <span className="font-semibold">{run.name}</span>
              <Badge tone={statusTones[run.status]}>{statusWords[run.status]}</Badge>
            </span>
            <span className="mt-1 line-clamp-3 block text-sm">{run.description}</span>
            <span className="mt-2 block text-sm text-muted">{inShort(run)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function inShort({ model, dataset, step, maxSteps, workers }: PublicRun): string {
  const parts = [
    `${formatCompact(model.parameters)} parameters`,
    dataset.name,
    `step ${formatCount(step)} of ${formatCount(maxSteps)}`,
    workers === 1 ? '1 volunteer now' : `${formatCount(workers)} volunteers now`,
  ];
  return parts.join(' · ');
}
