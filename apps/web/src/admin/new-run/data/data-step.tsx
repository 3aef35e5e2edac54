import type { Dataset } from '@tabweave/shared';
import { useState } from 'react';
import { Button, Select, formatBytes, formatCompact, formatCount } from '../../../ui/index.ts';
import { DatasetPreview } from '../../parts/dataset-preview.tsx';
import { Step } from '../step.tsx';
import { UploadForm } from './upload-form.tsx';

export interface DataStepProps {
  datasets: readonly Dataset[];
  chosen: Dataset | null;
  error: string | null;
  onChoose: (id: string) => void;
}

export function DataStep({ datasets, chosen, error, onChoose }: DataStepProps) {
  const [uploading, setUploading] = useState(false);
  const showUpload = uploading || datasets.length === 0;
  return (
    <Step number={1} title="Data" description="The text that the model learns to continue.">
      {showUpload ? (
        <UploadForm
          onDone={(dataset) => {
            onChoose(dataset.id);
            setUploading(false);
          }}
          {...(datasets.length > 0 ? { onCancel: () => setUploading(false) } : {})}
        />
      ) : (
        <>
          <div className="flex flex-wrap items-end gap-3">
            <Select
              className="min-w-56 flex-1"
              label="Dataset"
              value={chosen?.id ?? ''}
              error={error}
              options={datasets.map(({ id, name }) => ({ value: id, label: name }))}
              onChange={onChoose}
            />
            <Button onClick={() => setUploading(true)}>Upload a text</Button>
          </div>
          {chosen && (
            <>
              <p className="mt-3 text-sm text-muted">
                {formatBytes(chosen.bytes)}; {formatCompact(chosen.trainTokens)} tokens for training,{' '}
                {formatCompact(chosen.validationTokens)} for validation; {chosen.tokenizer} tokenizer with{' '}
                {formatCount(chosen.vocabularySize)} tokens
                {chosen.license === '' ? '' : `; ${chosen.license}`}.
              </p>
              <DatasetPreview dataset={chosen} />
            </>
          )}
        </>
      )}
    </Step>
  );
}
