import { Kysely, type Dialect } from 'kysely';
import { Migrator } from 'kysely/migration';
import { migrations } from './migrations.ts';
import type { Tables } from './schema.ts';

export type Database = Kysely<Tables>;

/** Opens the database and brings its schema up to date. @throws Error when a migration fails (it is rolled back). */
export async function openDatabase(dialect: Dialect): Promise<Database> {
  const database = new Kysely<Tables>({ dialect });
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: () => Promise.resolve(migrations) },
  });
  const { error } = await migrator.migrateToLatest();
  if (error) {
    await database.destroy();
    throw new Error(
      `the database could not be brought up to date: ${error instanceof Error ? error.message : 'unknown error'}`,
      { cause: error },
    );
  }
  return database;
}
