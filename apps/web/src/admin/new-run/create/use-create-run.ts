import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef } from 'react';
import { actOnRun, createModel, createRun } from '../../../api/calls.ts';
import { keys } from '../../../api/keys.ts';
import type { ResolvedModel } from '../form/resolve-model.ts';
import type { CheckedForm } from '../form/to-run-input.ts';

export interface Creation {
  input: NonNullable<CheckedForm['input']>;
  model: ResolvedModel;
  start: boolean;
}

/** The run was made, and stays a draft because it could not be started. */
export class NotStartedError extends Error {
  readonly runId: string;

  constructor(runId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = 'NotStartedError';
    this.runId = runId;
  }
}

/** Makes the model where it is new, then the run, then starts it, and goes to its page. */
export function useCreateRun() {
  const navigate = useNavigate();
  const cache = useQueryClient();
  // Tried again after the run was refused, the model that was made for it is not made twice.
  const made = useRef<{ key: string; id: string } | null>(null);
  return useMutation({
    mutationFn: async ({ input, model, start }: Creation) => {
      const modelId = model.modelId ?? (await make(model));
      const run = await createRun({ ...input, modelId });
      if (!start) return run;
      return actOnRun(run.id, 'start').catch((error: unknown) => {
        throw new NotStartedError(run.id, error);
      });
    },
    onSuccess: async (run) => {
      cache.setQueryData(keys.run(run.id), run);
      await navigate({ to: '/admin/runs/$runId', params: { runId: run.id } });
    },
    onSettled: () => {
      void cache.invalidateQueries({ queryKey: keys.runs });
      void cache.invalidateQueries({ queryKey: keys.models });
    },
  });

  async function make({ name, json }: ResolvedModel): Promise<string> {
    const key = JSON.stringify([name, json]);
    if (made.current?.key !== key) {
      const { id } = await createModel({ name, config: json });
      made.current = { key, id };
    }
    return made.current.id;
  }
}
