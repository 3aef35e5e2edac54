import type { Dataset } from '@tabweave/shared';
import { Database } from 'lucide-react';
import { useState } from 'react';
import { deleteDataset } from '../../api/calls.ts';
import { keys } from '../../api/keys.ts';
import { useDatasets } from '../../api/queries.ts';
import {
  Badge,
  Button,
  Card,
  EmptyState,
  PageHeader,
  formatBytes,
  formatCompact,
  formatCount,
  formatDateTime,
} from '../../ui/index.ts';
import { UploadForm } from '../new-run/data/upload-form.tsx';
import { DatasetPreview } from '../parts/dataset-preview.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { useTitle } from '../parts/use-title.ts';
import { DeleteButton } from './delete-button.tsx';

export default function DatasetsPage() {
  useTitle('Datasets');
  const datasets = useDatasets();
  const [uploading, setUploading] = useState(false);
  const upload = (
    <Button tone="primary" onClick={() => setUploading(true)}>
      Upload a text
    </Button>
  );
  return (
    <>
      <PageHeader
        title="Datasets"
        description="Texts, tokenised once. Volunteers fetch the parts that they train on."
        actions={uploading ? undefined : upload}
      />
      {uploading && (
        <Card title="Upload a text" className="mb-4">
          <UploadForm onDone={() => setUploading(false)} onCancel={() => setUploading(false)} />
        </Card>
      )}
      <QueryState query={datasets}>
        {(list) =>
          list.length === 0 && !uploading ? (
            <EmptyState icon={Database} title="No datasets yet" action={upload}>
              Any UTF-8 text file will do: a book, poems, source code.
            </EmptyState>
          ) : (
            <div className="grid gap-3 lg:grid-cols-2">
              {list.map((dataset) => (
                <DatasetCard key={dataset.id} dataset={dataset} />
              ))}
            </div>
          )
        }
      </QueryState>
    </>
  );
}

function DatasetCard({ dataset }: { dataset: Dataset }) {
  return (
    <Card
      title={dataset.name}
      landmark={false}
      description={dataset.description || undefined}
      actions={
        <DeleteButton
          kind="dataset"
          name={dataset.name}
          consequence="Its tokens and its tokenizer are removed from the server. This cannot be undone."
          remove={() => deleteDataset(dataset.id)}
          queryKey={keys.datasets}
        />
      }
    >
      <div className="flex flex-wrap gap-2">
        <Badge>{dataset.tokenizer} tokenizer</Badge>
        <Badge>{formatCount(dataset.vocabularySize)} in the vocabulary</Badge>
      </div>
      <p className="mt-3 text-sm text-muted">
        {formatBytes(dataset.bytes)}, {formatCompact(dataset.tokens)} tokens:{' '}
        {formatCompact(dataset.trainTokens)} for training, {formatCompact(dataset.validationTokens)} for
        validation. {dataset.license === '' ? '' : `Licence: ${dataset.license}. `}Uploaded{' '}
        {formatDateTime(dataset.createdAt)}.
      </p>
      <DatasetPreview dataset={dataset} />
    </Card>
  );
}
