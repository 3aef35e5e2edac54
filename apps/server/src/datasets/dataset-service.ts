/** Datasets: uploaded once, tokenised off the event loop, immutable afterwards. */
import { Worker } from 'node:worker_threads';
import {
  ProblemError,
  splitTokens,
  type Dataset,
  type ProblemCode,
  type TokenizerKind,
} from '@tabweave/shared';
import type { BlobStore } from '../storage/blobs.ts';
import type { Database } from '../storage/database.ts';
import { newId } from '../storage/ids.ts';
import type { DatasetRow } from '../storage/schema.ts';
import { storedTokenizer, type TextTokenizer } from './text-tokenizer.ts';
import type { IngestRequest, IngestResult } from './ingest.ts';

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
  readonly #tokenizers = new Map<string, TextTokenizer>();

  constructor(database: Database, blobs: BlobStore) {
    this.#database = database;
    this.#blobs = blobs;
  }

  async create(upload: DatasetUpload): Promise<Dataset> {
    const result = await ingestInThread({
      path: upload.path,
      tokenizer: upload.tokenizer,
      tokenizerPath: upload.tokenizerPath,
      blobFolder: this.#blobs.folder,
    });
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
    return (await this.#tokenizer(id)).encode(text);
  }

  async decode(id: string, ids: number[]): Promise<string> {
    return (await this.#tokenizer(id)).decode(ids);
  }

  async #tokenizer(id: string): Promise<TextTokenizer> {
    const row = await this.row(id);
    let tokenizer = this.#tokenizers.get(row.tokenizer_hash);
    if (!tokenizer) {
      tokenizer = storedTokenizer(row.tokenizer, await this.tokenizerJson(row));
      if (this.#tokenizers.size >= 16) this.#tokenizers.clear();
      this.#tokenizers.set(row.tokenizer_hash, tokenizer);
    }
    return tokenizer;
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

function ingestInThread(request: IngestRequest): Promise<IngestResult> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./ingest-thread.ts', import.meta.url), {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb: 4096 },
    });
    thread.once(
      'message',
      (reply: { ok: true; result: IngestResult } | { ok: false; code: ProblemCode; message: string }) => {
        if (reply.ok) resolve(reply.result);
        else reject(new ProblemError(reply.code, reply.message));
      },
    );
    thread.once('error', (error: Error) =>
      reject(new ProblemError('INVALID_DATASET', `The text could not be tokenised: ${error.message}`)),
    );
    thread.once('exit', () => reject(new ProblemError('INTERNAL', 'The tokenising thread ended early.')));
  });
}
