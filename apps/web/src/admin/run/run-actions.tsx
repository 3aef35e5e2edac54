import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Run } from '@tabweave/shared';
import { Download, Pause, Play, Square } from 'lucide-react';
import { useState } from 'react';
import { errorWords } from '../../api/api-error.ts';
import { actOnRun, type RunAction } from '../../api/calls.ts';
import { keys } from '../../api/keys.ts';
import { download } from '../../api/save-file.ts';
import { Alert, Button, Dialog } from '../../ui/index.ts';

export function RunActions({ run }: { run: Run }) {
  const cache = useQueryClient();
  const [asking, setAsking] = useState(false);
  const action = useMutation({
    mutationFn: (name: RunAction) => actOnRun(run.id, name),
    onSuccess: async (changed) => {
      // An answer that was asked for before the action would put the old state back.
      await cache.cancelQueries({ queryKey: keys.run(run.id) });
      cache.setQueryData(keys.run(run.id), changed);
    },
    onSettled: () => setAsking(false),
  });
  const checkpoint = useMutation({
    mutationFn: () => download(`/runs/${run.id}/checkpoint`, `checkpoint-${run.id}.zip`),
  });
  const error = action.error ?? checkpoint.error;
  const act = (name: RunAction) => ({
    busy: action.isPending && action.variables === name,
    disabled: action.isPending && action.variables !== name,
    onClick: () => action.mutate(name),
  });
  const { status } = run;
  const stoppable = status === 'running' || status === 'paused' || status === 'failed';
  return (
    <>
      {run.parametersHash !== null && (
        <Button icon={Download} busy={checkpoint.isPending} onClick={() => checkpoint.mutate()}>
          Checkpoint
        </Button>
      )}
      {stoppable && (
        <Button tone="danger" icon={Square} onClick={() => setAsking(true)}>
          Stop
        </Button>
      )}
      {status === 'draft' && (
        <Button tone="primary" icon={Play} {...act('start')}>
          Start
        </Button>
      )}
      {status === 'running' && (
        <Button icon={Pause} {...act('pause')}>
          Pause
        </Button>
      )}
      {(status === 'paused' || status === 'failed') && (
        <Button tone="primary" icon={Play} {...act('resume')}>
          Resume
        </Button>
      )}
      {error && (
        <Alert tone="bad" className="basis-full" title={errorWords(error).title}>
          {errorWords(error).detail}
        </Alert>
      )}
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title="Stop this run for good?"
        description={`Stopping is final: “${run.name}” cannot be resumed. The checkpoint of step ${run.step} stays and can be downloaded. To go on later, pause it instead.`}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Keep it</Button>
            <Button tone="danger" icon={Square} {...act('stop')}>
              Stop for good
            </Button>
          </>
        }
      />
    </>
  );
}
