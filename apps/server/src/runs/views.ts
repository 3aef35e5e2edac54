/** Runs as the API and the pages show them. */
import {
  serverMemoryBytes,
  workerMemory,
  type MetricPoint,
  type PublicRun,
  type Run,
} from '@tabweave/shared';
import type { ParameterVersion } from '../parameters/store.ts';
import type { RunRow } from '../storage/schema.ts';
import type { RunDefinition } from './definition.ts';
import type { RunDriver } from './run-driver.ts';

export interface RunFigures {
  definition: RunDefinition;
  row: RunRow;
  driver: RunDriver | null;
  parameters: ParameterVersion | null;
  /** Last points, oldest first. */
  recent: readonly MetricPoint[];
  validationLoss: number | null;
}

export function toPublicRun(figures: RunFigures): PublicRun {
  const { definition, row, driver, recent } = figures;
  const last = recent.at(-1);
  const workers = row.status === 'running' ? (driver?.workerCount ?? 0) : 0;
  const milliseconds = recent.reduce((sum, point) => sum + point.stepMilliseconds, 0);
  const tokens = recent.reduce((sum, point) => sum + point.samples, 0) * definition.recipe.blockSize;
  return {
    id: definition.id,
    name: definition.name,
    description: definition.description,
    status: row.status,
    activity: activity(row, driver),
    model: { name: definition.model.name, parameters: definition.model.parameters },
    dataset: {
      name: definition.dataset.name,
      license: definition.dataset.license,
      tokens: definition.dataset.tokens,
    },
    step: figures.parameters?.version ?? 0,
    maxSteps: definition.recipe.maxSteps,
    trainLoss: last?.trainLoss ?? null,
    validationLoss: figures.validationLoss,
    tokensPerSecond: milliseconds > 0 && workers > 0 ? (1000 * tokens) / milliseconds : null,
    workers,
  };
}

export function toRun(figures: RunFigures): Run {
  const { definition, row, recent, parameters } = figures;
  const { config, recipe, model } = definition;
  const summary = toPublicRun(figures);
  const memory = workerMemory(config, recipe.blockSize);
  const milliseconds = recent.reduce((sum, point) => sum + point.stepMilliseconds, 0);
  const moving = row.status === 'running' && recent.length > 0 && summary.workers > 0;
  return {
    ...summary,
    modelId: row.model_id,
    datasetId: row.dataset_id,
    config,
    recipe,
    strategy: definition.strategy,
    parametersHash: parameters?.parametersHash ?? null,
    parameterBytes: 4 * model.parameters,
    etaSeconds: moving ? ((recipe.maxSteps - summary.step) * milliseconds) / recent.length / 1000 : null,
    memory: {
      workerFixedBytes: memory.fixedBytes,
      workerPerSampleBytes: memory.perSampleBytes,
      serverBytes: serverMemoryBytes(model.parameters),
    },
    warnings: model.warnings,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  };
}

function activity(row: RunRow, driver: RunDriver | null): string {
  switch (row.status) {
    case 'draft':
      return 'Not started yet.';
    case 'finished':
      return 'Finished.';
    case 'paused':
    case 'stopped':
    case 'failed':
      return row.status_reason;
    case 'running':
      return driver ? runningActivity(driver) : 'Starting.';
  }
}

function runningActivity(driver: RunDriver): string {
  if (driver.trouble !== '') return driver.trouble;
  if (driver.workerCount === 0) return 'Waiting for volunteers: nobody is connected.';
  const view = driver.view();
  if (view.phase === 'gathering') return 'Waiting a moment for more volunteers to gather.';
  const able = view.workers.filter((worker) => worker.state === 'idle' || worker.state === 'working').length;
  if (able === 0) return 'Waiting: every connected volunteer is paused or set aside.';
  return `Training step ${view.version + 1}.`;
}
