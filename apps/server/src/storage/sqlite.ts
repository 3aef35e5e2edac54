/** Kysely on Node's own SQLite: WAL, every commit synced, and the file locked against a second process. */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { SqliteDialect, type SqliteDatabase } from 'kysely';

/** @throws Error when another process holds the file. */
export function openSqlite(path: string): SqliteDialect {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA foreign_keys = ON');
  const adapter: SqliteDatabase = {
    close: () => database.close(),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const bind = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...bind(parameters)),
        run: (parameters) => statement.run(...bind(parameters)),
        iterate: (parameters) => statement.iterate(...bind(parameters)) as IterableIterator<unknown>,
      };
    },
  };
  return new SqliteDialect({ database: adapter });
}
