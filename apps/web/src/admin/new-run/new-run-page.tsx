import type { Dataset, Model } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useDatasets, useModels } from '../../api/queries.ts';
import { PageHeader } from '../../ui/index.ts';
import { QueryState } from '../parts/query-state.tsx';
import { useTitle } from '../parts/use-title.ts';
import { CreatePanel } from './create/create-panel.tsx';
import { EstimateList } from './create/estimate-list.tsx';
import { useCreateRun } from './create/use-create-run.ts';
import { DataStep } from './data/data-step.tsx';
import { estimate } from './form/estimate.ts';
import { resolveModel } from './form/resolve-model.ts';
import { defaultRecipe, initialForm, type RunForm } from './form/run-form.ts';
import { messageAt, suggestedName, toRunInput } from './form/to-run-input.ts';
import { ModelStep } from './model/model-step.tsx';
import { RecipeStep } from './recipe/recipe-step.tsx';

export default function NewRunPage() {
  useTitle('New run');
  const datasets = useDatasets();
  const models = useModels();
  return (
    <>
      <PageHeader
        title="New run"
        back={
          <Link to="/admin" className="text-accent hover:underline">
            Runs
          </Link>
        }
      />
      <QueryState query={datasets}>
        {(texts) => (
          <QueryState query={models}>{(saved) => <NewRunForm datasets={texts} models={saved} />}</QueryState>
        )}
      </QueryState>
    </>
  );
}

function NewRunForm({ datasets, models }: { datasets: readonly Dataset[]; models: readonly Model[] }) {
  const [form, setForm] = useState<RunForm>(initialForm);
  const [tried, setTried] = useState(false);
  const creation = useCreateRun();
  const dataset = datasets.find(({ id }) => id === form.datasetId) ?? datasets[0] ?? null;
  const model = useMemo(
    () => resolveModel(form.model, dataset?.vocabularySize ?? null, models),
    [form.model, dataset, models],
  );
  const checked = useMemo(() => toRunInput(form, dataset, model), [form, dataset, model]);
  const defaults = defaultRecipe(model.config?.positions ?? 128);
  const refused = creation.error instanceof ApiError ? creation.error.fields : [];
  const errors = [...checked.errors, ...refused];
  const change = (part: Partial<RunForm>): void => {
    // What the server said was about the form as it stood.
    if (creation.isError) creation.reset();
    setForm((before) => ({ ...before, ...part }));
  };
  const create = (start: boolean): void => {
    setTried(true);
    if (checked.input !== null) creation.mutate({ input: checked.input, model, start });
  };
  const cost =
    model.config && dataset
      ? estimate(model.config, model.parameters, checked.recipe, form.strategy, dataset)
      : null;
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
      <div className="grid min-w-0 gap-5">
        <DataStep
          datasets={datasets}
          chosen={dataset}
          error={tried ? messageAt(errors, 'datasetId') : null}
          onChoose={(datasetId) => change({ datasetId })}
        />
        <ModelStep
          choice={form.model}
          resolved={model}
          saved={models}
          vocabularySize={dataset?.vocabularySize ?? null}
          errors={errors.filter(({ path }) => !/^(recipe|strategy|name|description|datasetId)/.test(path))}
          onChange={(choice) => change({ model: choice })}
        />
        <RecipeStep
          form={form}
          defaults={defaults}
          errors={errors}
          parameters={model.config ? model.parameters : null}
          onChange={change}
        />
      </div>
      <CreatePanel
        form={form}
        suggested={suggestedName(model, dataset)}
        errors={checked.errors}
        tried={tried}
        failure={creation.error}
        busy={creation.isPending}
        estimates={
          cost ? (
            <EstimateList parameters={model.parameters} cost={cost} />
          ) : (
            <p className="text-sm text-muted">
              What it takes (memory, traffic) is reckoned here once data and model are chosen.
            </p>
          )
        }
        onChange={change}
        onCreate={create}
      />
    </div>
  );
}
