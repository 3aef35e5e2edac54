import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MetricPoint } from '@tabweave/shared';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type Database } from '../storage/database.ts';
import { openSqlite } from '../storage/sqlite.ts';
import { RunHistory, metricsCsv } from './history.ts';

let folder: string;
let database: Database;
let history: RunHistory;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tabweave-history-'));
  database = await openDatabase(openSqlite(join(folder, 'db.sqlite')));
  const at = new Date(0).toISOString();
  await database
    .insertInto('datasets')
    .values({
      id: 'data',
      name: '',
      description: '',
      license: '',
      tokenizer: 'byte',
      vocabulary_size: 256,
      bytes: 1,
      tokens: 1,
      validation_fraction: 0,
      preview: '',
      shards: '[]',
      token_bytes: 2,
      tokenizer_hash: '',
      created_at: at,
    })
    .execute();
  await database
    .insertInto('models')
    .values({ id: 'model', name: '', description: '', config: '{}', warnings: '[]', created_at: at })
    .execute();
  await database
    .insertInto('runs')
    .values({
      id: 'run1',
      name: '',
      description: '',
      model_id: 'model',
      dataset_id: 'data',
      recipe: '{}',
      strategy: '{}',
      status: 'running',
      status_reason: '',
      parameters: null,
      created_at: at,
      started_at: null,
      finished_at: null,
    })
    .execute();
  history = new RunHistory(database);
  for (let step = 1; step <= 103; step++) {
    await history.record('run1', point(step, step % 10 === 0 ? step / 100 : null));
  }
});
afterAll(async () => {
  await database.destroy();
  rmSync(folder, { recursive: true, force: true });
});

function point(step: number, validationLoss: number | null): MetricPoint {
  return {
    step,
    trainLoss: 1 / step,
    validationLoss,
    learningRate: 0.001,
    gradientNorm: 1,
    clipped: false,
    samples: 4,
    tokensPerSecond: 10,
    stepMilliseconds: 100,
    workers: 2,
    requeued: 0,
    refused: 0,
    bytesUp: 5,
    at: new Date(step).toISOString(),
  };
}

it('a thinned history keeps its ends, its spread and its validation losses', async () => {
  const points = await history.thinned('run1', 10, 10);
  expect(points.length).toBeLessThan(25);
  expect(points.at(-1)?.step).toBe(103);
  expect(points.filter((p) => p.validationLoss !== null).map((p) => p.step)).toEqual([20, 40, 60, 80, 100]);
  expect((await history.thinned('run1', 1000, 10)).map((p) => p.step)).toEqual(
    Array.from({ length: 103 }, (_, i) => i + 1),
  );
  expect(await history.thinned('nothing', 10, 0)).toEqual([]);
});

it('a step is recorded once, however often it is told, and its validation loss comes later', async () => {
  await history.record('run1', { ...point(103, null), trainLoss: 99 });
  await history.recordValidation('run1', 103, 0.5);
  const [last] = await history.points('run1', 102, 10);
  expect(last).toMatchObject({ trainLoss: 1 / 103, validationLoss: 0.5 });
  expect(await history.lastValidation('run1')).toBe(0.5);
  expect((await history.recent('run1', 2)).map((p) => p.step)).toEqual([102, 103]);
});

it('CSV has a header, one line for each point, and an empty field where nothing was measured', () => {
  const lines = metricsCsv([point(1, null), point(2, 0.25)]).split('\r\n');
  expect(lines[0]).toMatch(/^step,trainLoss,validationLoss,/);
  expect(lines[1]).toMatch(/^1,1,,0\.001,/);
  expect(lines[2]).toMatch(/^2,0\.5,0\.25,/);
  expect(lines).toHaveLength(4);
});
