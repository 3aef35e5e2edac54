/** What a task needs before it can be computed: the parameters of its version, and the tokens of its samples. */
import { decodeVector, encodedBytes, gpt2Layout, type Task } from '@tabweave/shared';
import type { Backoff } from '../backoff.ts';
import { TaskFailure } from '../failure.ts';
import { fetchBlob, type BlobRequest } from './fetch-blob.ts';
import { ShardCache } from './shard-cache.ts';
import { gatherTokens } from './token-windows.ts';

const shardCacheBytes = 256 * 1024 * 1024;

export interface InputPorts {
  /** The server's address, which the task's addresses are relative to. */
  base: string;
  fetch: typeof fetch;
  onBytes(bytes: number): void;
  onRetry(reason: string): void;
  backoff?: Backoff;
}

export class TaskInputs {
  readonly #ports: InputPorts;
  readonly #shards = new ShardCache(shardCacheBytes);
  #parameters: { hash: string; vector: Float32Array } | null = null;

  constructor(ports: InputPorts) {
    this.#ports = ports;
  }

  /** The flat float32 parameters, [layout.size]; the last version stays in memory. */
  async parameters(task: Task, signal: AbortSignal): Promise<Float32Array> {
    const { hash, bytes, encoding, url } = task.parameters;
    const { size } = gpt2Layout(task.config);
    if (bytes !== encodedBytes(size, encoding)) {
      throw new TaskFailure(
        'bad-data',
        `The task announces ${bytes} bytes of parameters; its model has ${size}, ${encodedBytes(size, encoding)} bytes as ${encoding}.`,
      );
    }
    if (this.#parameters?.hash === hash && this.#parameters.vector.length === size) {
      return this.#parameters.vector;
    }
    // Freed before the next is fetched: two versions of a large model may not fit.
    this.#parameters = null;
    const blob = await this.#fetch({ url: this.#resolve(url), hash, bytes, what: 'the parameters' }, signal);
    const vector = encoding === 'float32' ? new Float32Array(blob.buffer) : new Float32Array(size);
    if (encoding !== 'float32') decodeVector(blob, encoding, vector);
    this.#parameters = { hash, vector };
    return vector;
  }

  /** Token layout as `Engine.accumulate` takes it, all samples of the task. */
  tokens(task: Task, signal: AbortSignal): Promise<Int32Array> {
    return gatherTokens(task, (shard) =>
      this.#shards.get(shard.hash, () => {
        const bytes = shard.tokens * task.data.tokenBytes;
        const what = 'a piece of the data set';
        return this.#fetch({ url: this.#resolve(shard.url), hash: shard.hash, bytes, what }, signal);
      }),
    );
  }

  #fetch(request: BlobRequest, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    return fetchBlob(request, { ...this.#ports, signal });
  }

  #resolve(address: string): URL {
    try {
      return new URL(address, this.#ports.base);
    } catch {
      throw new TaskFailure('bad-data', `The task names "${address}", which is not an address.`);
    }
  }
}
