/** Datasets: uploaded once, tokenised off the event loop, immutable afterwards. */
import { ProblemError, splitTokens, type Dataset, type TokenizerKind } from '@tabweave/shared';
import type { BlobStore } from '../storage/blobs.ts';
import type { Database } from '../storage/database.ts';
import { newId } from '../storage/ids.ts';
import type { DatasetRow } from '../storage/schema.ts';
import type { IngestResult } from './ingest.ts';
import type { TextJob } from './text-thread.ts';
import { TextThreads } from './text-threads.ts';

export interface DatasetUpload {
  name: string;
  description: string;
  license: string;
  tokenizer: TokenizerKind;
  validationFraction: number;
  /** Temporary files; the caller removes them. */
  path: string;
  tokenizerPath: string | null;
}

export interface ShardRef {
  hash: string;
  start: number;
  tokens: number;
}

export class DatasetService {
  readonly #database: Database;
  readonly #blobs: BlobStore;
  readonly #threads = new TextThreads();
  /** Uploads whose blobs may be written while no row names them yet. */
  readonly #ingesting = new Set<Promise<unknown>>();

  constructor(database: Database, blobs: BlobStore) {
    this.#database = database;
    this.#blobs = blobs;
  }

  /** @param signal gives up on the upload. */
  async create(upload: DatasetUpload, signal?: AbortSignal): Promise<Dataset> {
    const creating = this.#create(upload, signal);
    this.#ingesting.add(creating);
    try {
      return await creating;
    } finally {
      this.#ingesting.delete(creating);
    }
  }

  /** Ends the work in threads. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  async #create(upload: DatasetUpload, signal?: AbortSignal): Promise<Dataset> {
    const request = {
      path: upload.path,
      tokenizer: upload.tokenizer,
      tokenizerPath: upload.tokenizerPath,
      blobFolder: this.#blobs.folder,
    };
    const result = (await this.#threads.run({ type: 'ingest', request }, signal)) as IngestResult;
    const row: DatasetRow = {
      id: newId(),
      name: upload.name,
      description: upload.description,
      license: upload.license,
      tokenizer: upload.tokenizer,
      vocabulary_size: result.vocabularySize,
      bytes: result.bytes,
      tokens: result.tokens,
      validation_fraction: upload.validationFraction,
      preview: result.preview,
      shards: JSON.stringify(result.shards),
      token_bytes: result.tokenBytes,
      tokenizer_hash: result.tokenizerHash,
      created_at: new Date().toISOString(),
    };
    await this.#database.insertInto('datasets').values(row).execute();
    return toDataset(row);
  }

  async list(): Promise<Dataset[]> {
    const rows = await this.#database
      .selectFrom('datasets')
      .selectAll()
      .orderBy('created_at', 'desc')
      .execute();
    return rows.map(toDataset);
  }

  async row(id: string): Promise<DatasetRow> {
    const row = await this.#database
      .selectFrom('datasets')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    if (!row) throw new ProblemError('NOT_FOUND', `There is no dataset ${id}.`);
    return row;
  }

  async get(id: string): Promise<Dataset> {
    return toDataset(await this.row(id));
  }

  /** @throws ProblemError CONFLICT while a run uses it. */
  async remove(id: string): Promise<void> {
    const row = await this.row(id);
    const run = await this.#database
      .selectFrom('runs')
      .select(['id', 'name'])
      .where('dataset_id', '=', id)
      .executeTakeFirst();
    if (run) {
      throw new ProblemError('CONFLICT', `The run "${run.name}" uses this dataset; delete that run first.`);
    }
    await this.#database.deleteFrom('datasets').where('id', '=', id).execute();
    // An upload of the same text finds these blobs there and writes no others: it must have its row before they go.
    await Promise.allSettled([...this.#ingesting]);
    const others = await this.#database.selectFrom('datasets').select(['shards', 'tokenizer_hash']).execute();
    const used = new Set(
      others.flatMap((other) => [other.tokenizer_hash, ...shardsOf(other).map((s) => s.hash)]),
    );
    for (const hash of [row.tokenizer_hash, ...shardsOf(row).map((shard) => shard.hash)]) {
      if (!used.has(hash)) this.#blobs.remove(hash);
    }
  }

  async tokenizerJson(row: DatasetRow): Promise<string> {
    return (await this.#blobs.read(row.tokenizer_hash)).toString('utf8');
  }

  async encode(id: string, text: string): Promise<number[]> {
    return (await this.#tokenizerJob(id, (tokenizer) => ({
      type: 'encode',
      ...tokenizer,
      text,
    }))) as number[];
  }

  async decode(id: string, ids: number[]): Promise<string> {
    return (await this.#tokenizerJob(id, (tokenizer) => ({ type: 'decode', ...tokenizer, ids }))) as string;
  }

  async #tokenizerJob(
    id: string,
    job: (tokenizer: { tokenizer: TokenizerKind; json: string }) => TextJob,
  ): Promise<unknown> {
    const row = await this.row(id);
    return this.#threads.run(job({ tokenizer: row.tokenizer, json: await this.tokenizerJson(row) }));
  }
}

export function shardsOf(row: Pick<DatasetRow, 'shards'>): ShardRef[] {
  return JSON.parse(row.shards) as ShardRef[];
}

function toDataset(row: DatasetRow): Dataset {
  const { train, validation } = splitTokens(row.tokens, row.validation_fraction);
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    license: row.license,
    tokenizer: row.tokenizer,
    vocabularySize: row.vocabulary_size,
    bytes: row.bytes,
    tokens: row.tokens,
    trainTokens: train.end - train.start,
    validationTokens: validation.end - validation.start,
    preview: row.preview,
    createdAt: row.created_at,
  };
}
