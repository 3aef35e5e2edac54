/** Fetches a file named by its SHA-256, and gives it out only when length and hash are right. */
import { sleep } from '../abort.ts';
import { backoffDelay, downloadBackoff, type Backoff } from '../backoff.ts';
import { TaskFailure, messageOf } from '../failure.ts';
import { createHasher } from './sha256.ts';

export interface BlobRequest {
  url: URL;
  /** SHA-256, lower-case hexadecimal. */
  hash: string;
  bytes: number;
  /** What it is, for messages: `the parameters`. */
  what: string;
}

export interface BlobPorts {
  fetch: typeof fetch;
  signal: AbortSignal;
  /** Called with the size of each piece that arrives, repeated attempts included. */
  onBytes(bytes: number): void;
  /** Called when an attempt has failed and another is made after `milliseconds`. */
  onRetry(reason: string, milliseconds: number): void;
  backoff?: Backoff;
}

const attempts = 6;
/** A connection that brings nothing for this long is given up. */
const stallMilliseconds = 30_000;

/** An answer that asking again will not change. */
class Final extends Error {}

/**
 * @throws TaskFailure `download` after six attempts, or at once where the server says that there is no such file;
 *   the signal's reason when aborted.
 */
export async function fetchBlob(request: BlobRequest, ports: BlobPorts): Promise<Uint8Array<ArrayBuffer>> {
  let suspectCache = false;
  for (let attempt = 0; ; attempt++) {
    try {
      const bytes = await fetchOnce(request, ports, suspectCache);
      if (bytes !== null) return bytes;
      suspectCache = true;
      throw new Error('what arrived has another SHA-256 than it should');
    } catch (error) {
      ports.signal.throwIfAborted();
      const reason = messageOf(error);
      if (error instanceof Final || attempt + 1 >= attempts) {
        const tries = attempt === 0 ? '' : ` (${attempt + 1} attempts)`;
        throw new TaskFailure('download', `Could not download ${request.what}${tries}: ${reason}.`);
      }
      const delay = backoffDelay(attempt, ports.backoff ?? downloadBackoff);
      ports.onRetry(`Downloading ${request.what} failed: ${reason}`, delay);
      await sleep(delay, ports.signal);
    }
  }
}

/** @returns null when the hash is wrong. */
async function fetchOnce(
  request: BlobRequest,
  ports: BlobPorts,
  bypassCache: boolean,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const attempt = new AbortController();
  const signal = AbortSignal.any([ports.signal, attempt.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(
      () => attempt.abort(new Error(`nothing arrived for ${stallMilliseconds / 1000} s`)),
      stallMilliseconds,
    );
  };
  try {
    alive();
    const { fetch } = ports;
    const response = await fetch(request.url, { signal, ...(bypassCache ? { cache: 'reload' } : {}) });
    if (!response.ok) {
      const answer = `the server answered ${response.status}`;
      const mayPass = response.status >= 500 || response.status === 429 || response.status === 408;
      throw mayPass ? new Error(answer) : new Final(answer);
    }
    if (!response.body) throw new Error('the answer was empty');
    const whole = new Uint8Array(request.bytes);
    const hasher = createHasher();
    let received = 0;
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      alive();
      if (received + value.byteLength > whole.byteLength) {
        throw new Error(`it is longer than ${whole.byteLength} bytes`);
      }
      whole.set(value, received);
      hasher.update(value);
      received += value.byteLength;
      ports.onBytes(value.byteLength);
    }
    if (received < whole.byteLength) throw new Error(`it ended at ${received} of ${whole.byteLength} bytes`);
    return (await hasher.digest(whole)) === request.hash ? whole : null;
  } finally {
    clearTimeout(timer);
    // Ends an answer that was not read to its end.
    attempt.abort();
  }
}
