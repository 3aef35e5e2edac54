/** The runs that can be helped, where there are several; or that there is none. */
import type { PublicRun } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Sprout } from 'lucide-react';
import { Badge, EmptyState, Spinner } from '../../ui/index.ts';
import { formatCompact, formatCount } from '../format.ts';
import { Unreachable } from './run-not-there.tsx';
import { statusTones, statusWords } from './run-status.ts';

interface Properties {
  /** Null while it is not known. */
  runs: PublicRun[] | null;
  error: Error | null;
  onRetry: () => void;
}

export function ChooseRun({ runs, error, onRetry }: Properties) {
  if (runs === null) {
    return error ? <Unreachable error={error} onRetry={onRetry} /> : <Spinner label="Asking the server…" />;
  }
  if (runs.length === 0) {
    return (
      <EmptyState icon={Sprout} title="Nothing to train at the moment">
        No run needs volunteers now. This page looks again every few seconds: leave it open, or come back
        later. Whoever runs the server starts runs in the dashboard.
      </EmptyState>
    );
  }
  // Those that need help first; the server's order among equals.
  const rank = (run: PublicRun): number => (run.status === 'running' ? 0 : 1);
  return (
    <section className="space-y-4">
      <h1 className="text-2xl font-semibold">What would you like to help train?</h1>
      <ul className="grid gap-4 md:grid-cols-2">
        {runs
          .toSorted((a, b) => rank(a) - rank(b))
          .map((run) => (
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
                <span className="mt-2 block text-sm text-muted">
                  {formatCompact(run.model.parameters)} parameters · {run.dataset.name} · step{' '}
                  {formatCount(run.step)} of {formatCount(run.maxSteps)} · {formatCount(run.workers)}{' '}
                  {run.workers === 1 ? 'volunteer' : 'volunteers'} now
                </span>
              </Link>
            </li>
          ))}
      </ul>
    </section>
  );
}
