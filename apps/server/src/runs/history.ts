/** A run's metric points: one row for each committed step, the validation loss filled in when it is measured. */
import type { MetricPoint } from '@tabweave/shared';
import { sql } from 'kysely';
import type { Database } from '../storage/database.ts';
import type { MetricRow } from '../storage/schema.ts';

export class RunHistory {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async record(runId: string, point: MetricPoint): Promise<void> {
    const row: MetricRow = {
      run_id: runId,
      step: point.step,
      point: JSON.stringify(point),
      validation_loss: point.validationLoss,
    };
    await this.#database
      .insertInto('metrics')
      .values(row)
      .onConflict((conflict) => conflict.columns(['run_id', 'step']).doNothing())
      .execute();
  }

  /** Drops the points of steps that are no longer. */
  async forgetAfter(runId: string, step: number): Promise<void> {
    await this.#database.deleteFrom('metrics').where('run_id', '=', runId).where('step', '>', step).execute();
  }

  async recordValidation(runId: string, step: number, loss: number): Promise<void> {
    await this.#database
      .updateTable('metrics')
      .set({ validation_loss: loss })
      .where('run_id', '=', runId)
      .where('step', '=', step)
      .execute();
  }

  /** Points after step `after`, oldest first. */
  async points(runId: string, after: number, limit: number): Promise<MetricPoint[]> {
    const rows = await this.#database
      .selectFrom('metrics')
      .selectAll()
      .where('run_id', '=', runId)
      .where('step', '>', after)
      .orderBy('step')
      .limit(limit)
      .execute();
    return rows.map(toPoint);
  }

  /** The last `count` points, oldest first. */
  async recent(runId: string, count: number): Promise<MetricPoint[]> {
    const rows = await this.#database
      .selectFrom('metrics')
      .selectAll()
      .where('run_id', '=', runId)
      .orderBy('step', 'desc')
      .limit(count)
      .execute();
    return rows.map(toPoint).reverse();
  }

  /**
   * About `target` points spread evenly over the run, and as many of those with a validation loss, oldest first.
   * @param evaluateEvery steps between validation losses; 0 for none.
   */
  async thinned(runId: string, target: number, evaluateEvery: number): Promise<MetricPoint[]> {
    const { last } = await this.#database
      .selectFrom('metrics')
      .select((select) => select.fn.max('step').as('last'))
      .where('run_id', '=', runId)
      .executeTakeFirstOrThrow();
    const steps = Number(last ?? 0);
    const stride = Math.max(1, Math.ceil(steps / target));
    const every = Math.max(1, evaluateEvery);
    const validationStride = every * Math.max(1, Math.ceil(steps / every / target));
    const rows = await this.#database
      .selectFrom('metrics')
      .selectAll()
      .where('run_id', '=', runId)
      .where(
        sql<boolean>`(step % ${stride} = 0 or step = ${steps} or (validation_loss is not null and step % ${validationStride} = 0))`,
      )
      .orderBy('step')
      .execute();
    return rows.map(toPoint);
  }

  async lastValidation(runId: string): Promise<number | null> {
    const row = await this.#database
      .selectFrom('metrics')
      .select('validation_loss')
      .where('run_id', '=', runId)
      .where('validation_loss', 'is not', null)
      .orderBy('step', 'desc')
      .executeTakeFirst();
    return row?.validation_loss ?? null;
  }
}

function toPoint(row: MetricRow): MetricPoint {
  return { ...(JSON.parse(row.point) as MetricPoint), validationLoss: row.validation_loss };
}

const columns = [
  'step',
  'trainLoss',
  'validationLoss',
  'learningRate',
  'gradientNorm',
  'clipped',
  'samples',
  'tokensPerSecond',
  'stepMilliseconds',
  'workers',
  'requeued',
  'refused',
  'bytesUp',
  'at',
] as const satisfies (keyof MetricPoint)[];

/** RFC 4180, with a header line. All values are numbers, booleans and timestamps, so that none needs quoting. */
export function metricsCsv(points: readonly MetricPoint[]): string {
  const lines = points.map((point) => columns.map((column) => point[column] ?? '').join(','));
  return [columns.join(','), ...lines].join('\r\n') + '\r\n';
}
