import type { Model } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { deleteModel } from '../../api/calls.ts';
import { keys } from '../../api/keys.ts';
import { useModels } from '../../api/queries.ts';
import {
  Alert,
  Card,
  EmptyState,
  PageHeader,
  buttonStyle,
  formatCompact,
  formatCount,
  formatDateTime,
} from '../../ui/index.ts';
import { QueryState } from '../parts/query-state.tsx';
import { useTitle } from '../parts/use-title.ts';
import { DeleteButton } from './delete-button.tsx';

export default function ModelsPage() {
  useTitle('Models');
  const models = useModels();
  return (
    <>
      <PageHeader title="Models" description="Shapes to train, each made with a run and free to use again." />
      <QueryState query={models}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState
              icon={Boxes}
              title="No models yet"
              action={
                <Link to="/admin/new" className={buttonStyle('primary')}>
                  New run
                </Link>
              }
            >
              A model is made together with a run: from a preset, or from a Hugging Face config.json.
            </EmptyState>
          ) : (
            <div className="grid gap-3 lg:grid-cols-2">
              {list.map((model) => (
                <ModelCard key={model.id} model={model} />
              ))}
            </div>
          )
        }
      </QueryState>
    </>
  );
}

function ModelCard({ model }: { model: Model }) {
  const { config } = model;
  return (
    <Card
      title={model.name}
      landmark={false}
      description={model.description || undefined}
      actions={
        <DeleteButton
          kind="model"
          name={model.name}
          consequence="Only its description is removed; no trained parameters belong to it."
          remove={() => deleteModel(model.id)}
          queryKey={keys.models}
        />
      }
    >
      <p className="text-sm text-muted">
        {formatCompact(model.parameters)} parameters: {config.layers} layers, width{' '}
        {formatCount(config.width)}, {config.heads} heads, {formatCount(config.positions)} positions,
        vocabulary {formatCount(config.vocabSize)}. Made {formatDateTime(model.createdAt)}.
      </p>
      {model.warnings.map((warning) => (
        <Alert key={warning} tone="warn" className="mt-3">
          {warning}
        </Alert>
      ))}
    </Card>
  );
}
