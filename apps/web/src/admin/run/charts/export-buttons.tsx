import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { errorWords } from '../../../api/api-error.ts';
import { download } from '../../../api/save-file.ts';
import { Alert, Button } from '../../../ui/index.ts';

/** The server's bound on one answer. */
const mostPoints = 100_000;

/** All metric points as a file. */
export function ExportButtons({ runId }: { runId: string }) {
  const saving = useMutation({
    mutationFn: (format: 'csv' | 'json') =>
      download(`/runs/${runId}/metrics?format=${format}&limit=${mostPoints}`, `metrics-${runId}.${format}`),
  });
  return (
    <div className="flex flex-wrap items-center gap-2">
      {(['csv', 'json'] as const).map((format) => (
        <Button
          key={format}
          size="small"
          icon={Download}
          busy={saving.isPending && saving.variables === format}
          onClick={() => saving.mutate(format)}
        >
          {format.toUpperCase()}
        </Button>
      ))}
      {saving.error && (
        <Alert tone="bad" title={errorWords(saving.error).title}>
          {errorWords(saving.error).detail}
        </Alert>
      )}
    </div>
  );
}
