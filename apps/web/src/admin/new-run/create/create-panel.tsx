import { limits, type FieldError } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { errorWords } from '../../../api/api-error.ts';
import { Alert, Button, Card, TextAreaField, TextField } from '../../../ui/index.ts';
import type { RunForm } from '../form/run-form.ts';
import { messageAt } from '../form/to-run-input.ts';
import { furtherFields, mainFields } from '../recipe/recipe-fields.ts';
import { NotStartedError } from './use-create-run.ts';

export interface CreatePanelProps {
  form: RunForm;
  suggested: string;
  errors: readonly FieldError[];
  /** Whether the person has tried to create it: only then are missing things called errors. */
  tried: boolean;
  failure: Error | null;
  busy: boolean;
  estimates: ReactNode;
  onChange: (change: Partial<RunForm>) => void;
  onCreate: (start: boolean) => void;
}

export function CreatePanel(props: CreatePanelProps) {
  const { form, suggested, errors, tried, failure, busy, estimates, onChange, onCreate } = props;
  return (
    <Card title="This run" className="xl:sticky xl:top-18 xl:max-h-[calc(100dvh-5.5rem)] xl:overflow-y-auto">
      {estimates}
      <hr className="my-4 border-line" />
      <div className="grid gap-4">
        <TextField
          label="Name"
          value={form.name ?? suggested}
          maxLength={limits.nameLength}
          error={messageAt(errors, 'name')}
          onChange={(event) => onChange({ name: event.target.value })}
        />
        <TextAreaField
          label="What it is for"
          value={form.description}
          maxLength={limits.descriptionLength}
          error={messageAt(errors, 'description')}
          hint="Volunteers read this before they start: what is trained, and why."
          onChange={(event) => onChange({ description: event.target.value })}
        />
        {tried && errors.length > 0 && (
          <Alert
            tone="bad"
            title={
              errors.length === 1 ? 'One thing is not right yet' : `${errors.length} things are not right yet`
            }
          >
            <ul className="list-disc pl-4">
              {errors.map(({ path, message }) => (
                <li key={`${path}${message}`}>
                  {labelOf(path)}
                  {message}
                </li>
              ))}
            </ul>
          </Alert>
        )}
        {failure && <Failure error={failure} />}
        <div className="grid gap-2">
          <Button tone="primary" icon={Play} busy={busy} onClick={() => onCreate(true)}>
            Create and start
          </Button>
          <Button disabled={busy} onClick={() => onCreate(false)}>
            Create as draft
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Failure({ error }: { error: Error }) {
  if (error instanceof NotStartedError) {
    return (
      <Alert
        tone="bad"
        title="The run is made, but did not start"
        action={
          <Link className="text-accent underline" to="/admin/runs/$runId" params={{ runId: error.runId }}>
            Open the draft
          </Link>
        }
      >
        {error.message}
      </Alert>
    );
  }
  const { title, detail } = errorWords(error);
  return (
    <Alert tone="bad" title={title}>
      {detail}
    </Alert>
  );
}

const labels = new Map<string, string>(
  [...mainFields, ...furtherFields].map(({ field, label }) => [`recipe.${field}`, label]),
);

/** Before a message: which field it is about, where the message does not say. */
function labelOf(path: string): string {
  if (path === 'datasetId' || path === 'config' || path === 'modelId') return '';
  return `${labels.get(path) ?? path.split('.').at(-1) ?? path}: `;
}
