import type { Run } from '@tabweave/shared';
import { useNavigate } from '@tanstack/react-router';
import { deleteRun } from '../../../api/calls.ts';
import { keys } from '../../../api/keys.ts';
import {
  Alert,
  Card,
  formatBytes,
  formatCompact,
  formatCount,
  formatDateTime,
  formatNumber,
} from '../../../ui/index.ts';
import { DeleteButton } from '../../library/delete-button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { furtherFields, mainFields } from '../../new-run/recipe/recipe-fields.ts';
import { FactList } from './fact-list.tsx';
import { restLines } from './rest-lines.ts';

export function DetailsPanel({ run }: { run: Run }) {
  const { recipe, strategy, config, memory } = run;
  return (
    <div className="grid items-start gap-5 xl:grid-cols-2">
      <Card title="Recipe">
        <FactList
          facts={[
            ...[...mainFields, ...furtherFields].map(({ field, label }) => ({
              label,
              value: Number.isInteger(recipe[field])
                ? formatCount(recipe[field])
                : formatNumber(recipe[field]),
            })),
            { label: 'Schedule', value: recipe.schedule },
            { label: 'Shares of the batch', value: strategy.batchPolicy },
            { label: 'Parameters travel as', value: strategy.parameterEncoding },
            { label: 'Gradients travel as', value: strategy.gradientEncoding },
          ]}
        />
      </Card>
      <Card title="Model and data">
        <FactList
          facts={[
            { label: 'Model', value: run.model.name },
            { label: 'Parameters', value: formatCount(run.model.parameters) },
            { label: 'Layers', value: config.layers },
            { label: 'Heads', value: config.heads },
            { label: 'Width', value: formatCount(config.width) },
            { label: 'Inner width', value: formatCount(config.inner) },
            { label: 'Positions', value: formatCount(config.positions) },
            { label: 'Vocabulary', value: formatCount(config.vocabSize) },
            { label: 'Dataset', value: run.dataset.name },
            { label: 'Tokens', value: formatCompact(run.dataset.tokens) },
            { label: 'Licence', value: run.dataset.license || '–' },
            { label: 'Server memory', value: formatBytes(memory.serverBytes) },
            {
              label: 'Volunteer memory',
              value: `${formatBytes(memory.workerFixedBytes)} and ${formatBytes(memory.workerPerSampleBytes)} per sample`,
            },
          ]}
        />
        {run.warnings.map((warning) => (
          <Alert key={warning} tone="warn" className="mt-3">
            {warning}
          </Alert>
        ))}
      </Card>
      <Identity run={run} />
      <Rest run={run} />
    </div>
  );
}

function Identity({ run }: { run: Run }) {
  const navigate = useNavigate();
  const deletable = run.status !== 'running' && run.status !== 'paused';
  return (
    <Card title="Identity">
      <FactList
        facts={[
          { label: 'Id', value: <code className="font-mono text-sm">{run.id}</code> },
          { label: 'Created', value: formatDateTime(run.createdAt) },
          { label: 'Started', value: formatDateTime(run.startedAt) },
          { label: 'Ended', value: formatDateTime(run.finishedAt) },
        ]}
      />
      <div className="mt-3 text-sm">
        <p className="text-muted">SHA-256 of the float32 parameters at step {formatCount(run.step)}</p>
        <code className="font-mono break-all">{run.parametersHash ?? 'none yet'}</code>
      </div>
      <div className="mt-4 flex flex-wrap items-center gap-3 text-sm text-muted">
        {deletable ? (
          <DeleteButton
            kind="run"
            name={run.name}
            consequence="Its parameters, its checkpoint and its metrics are removed. This cannot be undone."
            remove={() => deleteRun(run.id)}
            queryKey={keys.runs}
            onDeleted={() => void navigate({ to: '/admin' })}
          />
        ) : (
          'Stop the run before deleting it.'
        )}
      </div>
    </Card>
  );
}

function Rest({ run }: { run: Run }) {
  return (
    <Card
      title="From a shell"
      description={
        <>
          TOKEN is the admin token. All calls are in the{' '}
          <a className="text-accent underline" href="/api/docs">
            API reference
          </a>
          .
        </>
      }
    >
      <ul className="grid gap-3">
        {restLines(location.origin, run.id).map(({ what, command }) => (
          <li key={what}>
            <div className="mb-1 flex items-center justify-between gap-2">
              <span className="text-sm font-medium">{what}</span>
              <CopyButton text={command} label="Copy" />
            </div>
            <pre className="rounded-lg bg-sunken p-2.5 font-mono text-sm break-all whitespace-pre-wrap">
              {command}
            </pre>
          </li>
        ))}
      </ul>
    </Card>
  );
}
