/**
 * Who may administer: the admin token (ADMIN_TOKEN, or one made at first start), or a session got for it or for a
 * one-time link token. Tokens are opaque, stored as hashes, and sent as `Authorization: Bearer`; no cookies, so
 * other sites' pages can make no request in an admin's name.
 */
import { timingSafeEqual } from 'node:crypto';
import { ProblemError } from '@tabweave/shared';
import type { Database } from '../storage/database.ts';
import { hashToken, newToken } from '../storage/ids.ts';

const sessionMilliseconds = 30 * 24 * 3600 * 1000;
const linkMilliseconds = 24 * 3600 * 1000;

export class AdminAuth {
  readonly #database: Database;
  readonly #adminHash: string;
  readonly #links = new Map<string, number>();

  constructor(database: Database, adminToken: string) {
    this.#database = database;
    this.#adminHash = hashToken(adminToken);
  }

  /** A token for the printed dashboard link: exchanged once, within a day. */
  newLinkToken(): string {
    const token = newToken();
    this.#links.set(hashToken(token), Date.now() + linkMilliseconds);
    return token;
  }

  /** Exchanges a link token (which is then spent) or the admin token for a session. @throws ProblemError UNAUTHORIZED. */
  async openSession(token: string): Promise<{ token: string; expiresAt: string }> {
    const hash = hashToken(token);
    const expires = this.#links.get(hash);
    this.#links.delete(hash);
    const byLink = expires !== undefined && expires > Date.now();
    if (!byLink && !this.#isAdminToken(hash)) {
      throw new ProblemError(
        'UNAUTHORIZED',
        'This token is not valid. A dashboard link works once; restart the server for a new one, or sign in with the admin token.',
      );
    }
    const session = newToken();
    const expiresAt = new Date(Date.now() + sessionMilliseconds).toISOString();
    await this.#database.deleteFrom('sessions').where('expires_at', '<', new Date().toISOString()).execute();
    await this.#database
      .insertInto('sessions')
      .values({ token_hash: hashToken(session), expires_at: expiresAt })
      .execute();
    return { token: session, expiresAt };
  }

  async closeSession(token: string): Promise<void> {
    await this.#database.deleteFrom('sessions').where('token_hash', '=', hashToken(token)).execute();
  }

  async accepts(token: string): Promise<boolean> {
    if (token === '') return false;
    const hash = hashToken(token);
    if (this.#isAdminToken(hash)) return true;
    const row = await this.#database
      .selectFrom('sessions')
      .select('expires_at')
      .where('token_hash', '=', hash)
      .executeTakeFirst();
    return row !== undefined && row.expires_at > new Date().toISOString();
  }

  #isAdminToken(hash: string): boolean {
    return timingSafeEqual(Buffer.from(hash), Buffer.from(this.#adminHash));
  }
}

/** The token of an `Authorization: Bearer` header; empty when there is none. */
export function bearerToken(header: string | undefined): string {
  return /^Bearer\s+(\S+)\s*$/i.exec(header ?? '')?.[1] ?? '';
}
