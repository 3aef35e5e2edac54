/** Worker identities: a returning tab is known again by its secret, and keeps its counts. */
import type { Database } from '../storage/database.ts';
import { hashToken, newId, newToken } from '../storage/ids.ts';
import type { WorkerTotals } from '../runs/worker-link.ts';

const rememberedMilliseconds = 180 * 24 * 3600 * 1000;

export interface WorkerIdentity {
  id: string;
  secret: string;
  totals: WorkerTotals;
}

export class WorkerRegistry {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Finds the identity that the worker claims, or makes a new one. */
  async admit(claim: { workerId?: string; secret?: string }): Promise<WorkerIdentity> {
    if (claim.workerId !== undefined && claim.secret !== undefined) {
      const row = await this.#database
        .selectFrom('workers')
        .selectAll()
        .where('id', '=', claim.workerId)
        .where('secret_hash', '=', hashToken(claim.secret))
        .executeTakeFirst();
      if (row) {
        return {
          id: row.id,
          secret: claim.secret,
          totals: {
            acceptedSamples: row.accepted_samples,
            acceptedContributions: row.accepted_contributions,
            refusedContributions: row.refused_contributions,
          },
        };
      }
    }
    // Not stored before there is something to remember: connecting costs nothing, so it must not cost us a row.
    return {
      id: newId(),
      secret: newToken(),
      totals: { acceptedSamples: 0, acceptedContributions: 0, refusedContributions: 0 },
    };
  }

  /** Stores a worker that has had anything counted. */
  async save({ id, secret, totals }: WorkerIdentity, name: string): Promise<void> {
    if (totals.acceptedContributions === 0) return;
    const counts = {
      name,
      accepted_samples: totals.acceptedSamples,
      accepted_contributions: totals.acceptedContributions,
      refused_contributions: totals.refusedContributions,
      last_seen_at: new Date().toISOString(),
    };
    await this.#database
      .insertInto('workers')
      .values({ id, secret_hash: hashToken(secret), ...counts })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(counts))
      .execute();
  }

  async count(): Promise<number> {
    const { count } = await this.#database
      .selectFrom('workers')
      .select((select) => select.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Forgets workers that have not been seen for long. */
  async prune(): Promise<void> {
    const before = new Date(Date.now() - rememberedMilliseconds).toISOString();
    await this.#database.deleteFrom('workers').where('last_seen_at', '<', before).execute();
  }
}
