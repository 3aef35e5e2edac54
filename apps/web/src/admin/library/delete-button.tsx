import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { errorWords } from '../../api/api-error.ts';
import { Alert, Button, Dialog } from '../../ui/index.ts';

export interface DeleteButtonProps {
  /** "dataset", "model", "run". */
  kind: string;
  name: string;
  /** What goes with it. */
  consequence: string;
  remove: () => Promise<unknown>;
  /** Of the list to read again. */
  queryKey: readonly string[];
  onDeleted?: () => void;
}

/** Deletes after a question; a refusal (a run still uses it) is explained in the dialog. */
export function DeleteButton({ kind, name, consequence, remove, queryKey, onDeleted }: DeleteButtonProps) {
  const [open, setOpen] = useState(false);
  const cache = useQueryClient();
  const deletion = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      setOpen(false);
      onDeleted?.();
      await cache.invalidateQueries({ queryKey });
    },
  });
  const ask = (): void => {
    deletion.reset();
    setOpen(true);
  };
  return (
    <>
      <Button size="small" icon={Trash2} onClick={ask} aria-label={`Delete ${kind} ${name}`}>
        Delete
      </Button>
      <Dialog
        open={open}
        onOpenChange={setOpen}
        title={`Delete the ${kind} “${name}”?`}
        description={consequence}
        actions={
          <>
            <Button onClick={() => setOpen(false)}>Keep it</Button>
            <Button tone="danger" busy={deletion.isPending} onClick={() => deletion.mutate()}>
              Delete
            </Button>
          </>
        }
      >
        {deletion.error && (
          <Alert tone="bad" className="mt-3" title={errorWords(deletion.error).title}>
            {errorWords(deletion.error).detail}
          </Alert>
        )}
      </Dialog>
    </>
  );
}
