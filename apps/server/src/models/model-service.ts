import {
  ProblemError,
  countParameters,
  limits,
  parseGpt2Config,
  type Gpt2Config,
  type Model,
} from '@tabweave/shared';
import type { Database } from '../storage/database.ts';
import { newId } from '../storage/ids.ts';
import type { ModelRow } from '../storage/schema.ts';

export class ModelService {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** @throws ProblemError INVALID_MODEL, or TOO_LARGE with the numbers. */
  async create(input: { name: string; description: string; config: unknown }): Promise<Model> {
    const { config, warnings } = parseGpt2Config(input.config);
    const parameters = countParameters(config);
    if (parameters > limits.modelParameters) {
      throw new ProblemError(
        'TOO_LARGE',
        `The model has ${parameters.toLocaleString('en')} parameters; this server takes at most ${limits.modelParameters.toLocaleString('en')}.`,
      );
    }
    const row: ModelRow = {
      id: newId(),
      name: input.name,
      description: input.description,
      config: JSON.stringify(config),
      warnings: JSON.stringify(warnings),
      created_at: new Date().toISOString(),
    };
    await this.#database.insertInto('models').values(row).execute();
    return toModel(row);
  }

  async list(): Promise<Model[]> {
    const rows = await this.#database
      .selectFrom('models')
      .selectAll()
      .orderBy('created_at', 'desc')
      .execute();
    return rows.map(toModel);
  }

  async get(id: string): Promise<Model> {
    const row = await this.#database.selectFrom('models').selectAll().where('id', '=', id).executeTakeFirst();
    if (!row) throw new ProblemError('NOT_FOUND', `There is no model ${id}.`);
    return toModel(row);
  }

  /** @throws ProblemError CONFLICT while a run uses it. */
  async remove(id: string): Promise<void> {
    await this.get(id);
    const run = await this.#database
      .selectFrom('runs')
      .select(['name'])
      .where('model_id', '=', id)
      .executeTakeFirst();
    if (run)
      throw new ProblemError('CONFLICT', `The run "${run.name}" uses this model; delete that run first.`);
    await this.#database.deleteFrom('models').where('id', '=', id).execute();
  }
}

function toModel(row: ModelRow): Model {
  const config = JSON.parse(row.config) as Gpt2Config;
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    config,
    parameters: countParameters(config),
    warnings: JSON.parse(row.warnings) as string[],
    createdAt: row.created_at,
  };
}
