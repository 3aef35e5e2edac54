/** One piece of tokenizer work in a thread of its own: a tokenizer's patterns may run for ever, and are then cut off. */
import { parentPort, workerData } from 'node:worker_threads';
import { ProblemError, type TokenizerKind } from '@tabweave/shared';
import { isDiskFull } from '../storage/disk-full.ts';
import { ingest, type IngestRequest, type IngestResult } from './ingest.ts';
import { storedTokenizer } from './text-tokenizer.ts';

export type TextJob =
  | { type: 'ingest'; request: IngestRequest }
  | { type: 'encode'; tokenizer: TokenizerKind; json: string; text: string }
  | { type: 'decode'; tokenizer: TokenizerKind; json: string; ids: number[] };

export type TextResult = IngestResult | number[] | string;

function run(job: TextJob): TextResult {
  switch (job.type) {
    case 'ingest':
      return ingest(job.request);
    case 'encode':
      return storedTokenizer(job.tokenizer, job.json).encode(job.text);
    case 'decode':
      return storedTokenizer(job.tokenizer, job.json).decode(job.ids);
  }
}

try {
  parentPort?.postMessage({ ok: true, result: run(workerData as TextJob) });
} catch (error) {
  const known = error instanceof ProblemError ? error.code : 'INTERNAL';
  const code = isDiskFull(error) ? 'STORAGE_FULL' : known;
  parentPort?.postMessage({ ok: false, code, message: (error as Error).message });
}
