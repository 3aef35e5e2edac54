import { parentPort, workerData } from 'node:worker_threads';
import { ProblemError } from '@tabweave/shared';
import { ingest, type IngestRequest } from './ingest.ts';

try {
  parentPort?.postMessage({ ok: true, result: ingest(workerData as IngestRequest) });
} catch (error) {
  const code = error instanceof ProblemError ? error.code : 'INTERNAL';
  parentPort?.postMessage({ ok: false, code, message: (error as Error).message });
}
