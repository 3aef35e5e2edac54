/** What is trained, why, and on what. */
import type { PublicRun } from '@tabweave/shared';
import { Badge } from '../../ui/index.ts';
import { formatCompact } from '../format.ts';
import { statusTones, statusWords } from './run-status.ts';

export function RunFacts({ run }: { run: PublicRun }) {
  const { model, dataset } = run;
  return (
    <section className="space-y-5">
      <header className="space-y-2">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="text-2xl font-semibold text-balance">{run.name}</h1>
          <Badge tone={statusTones[run.status]}>{statusWords[run.status]}</Badge>
        </div>
        <p className="max-w-prose whitespace-pre-line">
          {run.description === '' ? 'Whoever runs this has not said what it is for.' : run.description}
        </p>
      </header>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-3 sm:grid-cols-3">
        <Fact name="Model" value={model.name} more={`${formatCompact(model.parameters)} parameters`} />
        <Fact
          name="Text it learns from"
          value={dataset.name}
          more={`${formatCompact(dataset.tokens)} tokens`}
        />
        <Fact name="Licence of the text" value={dataset.license === '' ? 'Not stated' : dataset.license} />
      </dl>
    </section>
  );
}

function Fact({ name, value, more }: { name: string; value: string; more?: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-muted">{name}</dt>
      <dd>
        <span className="block font-medium break-words">{value}</span>
        {more === undefined ? null : <span className="block text-sm text-muted">{more}</span>}
      </dd>
    </div>
  );
}
