import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

const first: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('datasets')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text', (c) => c.notNull())
      .addColumn('license', 'text', (c) => c.notNull())
      .addColumn('tokenizer', 'text', (c) => c.notNull())
      .addColumn('vocabulary_size', 'integer', (c) => c.notNull())
      .addColumn('bytes', 'integer', (c) => c.notNull())
      .addColumn('tokens', 'integer', (c) => c.notNull())
      .addColumn('validation_fraction', 'real', (c) => c.notNull())
      .addColumn('preview', 'text', (c) => c.notNull())
      .addColumn('shards', 'text', (c) => c.notNull())
      .addColumn('token_bytes', 'integer', (c) => c.notNull())
      .addColumn('tokenizer_hash', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('models')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text', (c) => c.notNull())
      .addColumn('config', 'text', (c) => c.notNull())
      .addColumn('warnings', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('runs')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('description', 'text', (c) => c.notNull())
      .addColumn('model_id', 'text', (c) => c.notNull().references('models.id'))
      .addColumn('dataset_id', 'text', (c) => c.notNull().references('datasets.id'))
      .addColumn('recipe', 'text', (c) => c.notNull())
      .addColumn('strategy', 'text', (c) => c.notNull())
      .addColumn('status', 'text', (c) => c.notNull())
      .addColumn('status_reason', 'text', (c) => c.notNull())
      .addColumn('parameters', 'text')
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addColumn('started_at', 'text')
      .addColumn('finished_at', 'text')
      .execute();
    await db.schema
      .createTable('metrics')
      .addColumn('run_id', 'text', (c) => c.notNull().references('runs.id').onDelete('cascade'))
      .addColumn('step', 'integer', (c) => c.notNull())
      .addColumn('point', 'text', (c) => c.notNull())
      .addColumn('validation_loss', 'real')
      .addPrimaryKeyConstraint('metrics_pk', ['run_id', 'step'])
      .execute();
    await db.schema
      .createTable('sessions')
      .addColumn('token_hash', 'text', (c) => c.primaryKey())
      .addColumn('expires_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('workers')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('secret_hash', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('accepted_samples', 'integer', (c) => c.notNull())
      .addColumn('accepted_contributions', 'integer', (c) => c.notNull())
      .addColumn('refused_contributions', 'integer', (c) => c.notNull())
      .addColumn('last_seen_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('settings')
      .addColumn('key', 'text', (c) => c.primaryKey())
      .addColumn('value', 'text', (c) => c.notNull())
      .execute();
  },
};

/** In order; each runs once, in a transaction. */
export const migrations: Record<string, Migration> = { '0001_first': first };
