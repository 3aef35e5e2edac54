/** Immutable files named by their SHA-256: dataset shards and tokenizer files. */
import { createHash } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeDurable } from './durable.ts';

export const blobHashPattern = /^[0-9a-f]{64}$/;

export class BlobStore {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  path(hash: string): string {
    if (!blobHashPattern.test(hash)) throw new Error(`not a blob name: ${hash}`);
    return join(this.folder, hash.slice(0, 2), hash);
  }

  /** Stores durably (blocking) and gives the name. */
  put(bytes: Uint8Array): string {
    const hash = createHash('sha256').update(bytes).digest('hex');
    if (!existsSync(this.path(hash))) writeDurable(this.path(hash), [bytes]);
    return hash;
  }

  read(hash: string): Promise<Buffer> {
    return readFile(this.path(hash));
  }

  remove(hash: string): void {
    rmSync(this.path(hash), { force: true });
  }
}
