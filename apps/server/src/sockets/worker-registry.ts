/** Worker identities: a returning tab is known again by its secret, and keeps its counts. */
import type { Database } from '../storage/database.ts';
import { hashToken, newId, newToken } from '../storage/ids.ts';
import type { WorkerTotals } from '../runs/worker-link.ts';

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
  async admit(claim: { workerId?: string; secret?: string; name: string }): Promise<WorkerIdentity> {
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
    const secret = newToken();
    const id = newId();
    await this.#database
      .insertInto('workers')
      .values({
        id,
        secret_hash: hashToken(secret),
        name: claim.name,
        accepted_samples: 0,
        accepted_contributions: 0,
        refused_contributions: 0,
        last_seen_at: new Date().toISOString(),
      })
      .execute();
    return { id, secret, totals: { acceptedSamples: 0, acceptedContributions: 0, refusedContributions: 0 } };
  }

  async save(id: string, name: string, totals: WorkerTotals): Promise<void> {
    await this.#database
      .updateTable('workers')
      .set({
        name,
        accepted_samples: totals.acceptedSamples,
        accepted_contributions: totals.acceptedContributions,
        refused_contributions: totals.refusedContributions,
        last_seen_at: new Date().toISOString(),
      })
      .where('id', '=', id)
      .execute();
  }
}
