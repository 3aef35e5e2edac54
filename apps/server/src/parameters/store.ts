/**
 * The parameters of one run: versions, the gradient sum of the open step, the optimizer, the step log and the
 * snapshots. Synchronous and blocking; it lives in a thread of its own (store-thread.ts), off the event loop.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeVector,
  encodeVector,
  gpt2Layout,
  type Encoding,
  type Gpt2Config,
  type ParameterEncoding,
  type ParameterLayout,
  type Recipe,
} from '@tabweave/shared';
import { adamwStep, createOptimizerState, type OptimizerState, type StepResult } from './adamw.ts';
import { ContributionGate, type Verdict } from './gate.ts';
import { initialParameters } from './initialise.ts';
import { pruneSnapshots, readSnapshot, snapshotVersions, writeSnapshot } from './snapshot.ts';
import { StepLog, logVersions } from './step-log.ts';

export interface StoreOptions {
  /** Folder of the run; created when missing. */
  folder: string;
  config: Gpt2Config;
  recipe: Recipe;
  parameterEncoding: ParameterEncoding;
}

/** The parameters of one version, as they are served. */
export interface ParameterVersion {
  version: number;
  /** SHA-256 of the float32 parameters. */
  parametersHash: string;
  /** Name, SHA-256 and size of the encoded file in `folder/parameters`. */
  blob: { hash: string; bytes: number };
}

export interface OpenedStore extends ParameterVersion {
  /** History entries of the steps that were replayed. */
  replayed: { version: number; meta: unknown; result: StepResult }[];
  /** What had to be repaired, in words. */
  repairs: string[];
}

export interface Contribution {
  bytes: Uint8Array;
  encoding: Encoding;
  samples: number;
}

export interface CommittedStep extends ParameterVersion {
  result: StepResult;
  /** Why the snapshot that was due could not be written; the step is safe in the log all the same. */
  snapshotError?: string;
}

/** A snapshot is taken when the log has grown to this many times its size, or has this many records. */
const snapshotAfterLogRatio = 4;
const snapshotAfterSteps = 100;

export class ParameterStore {
  readonly #options: StoreOptions;
  readonly #layout: ParameterLayout;
  readonly #log: StepLog;
  readonly #gate = new ContributionGate();
  readonly #sum: Float32Array;
  readonly #scratch: Float32Array;
  #state!: OptimizerState;
  #version = 0;
  #snapshotVersion = 0;
  #samples = 0;
  #blobs: string[] = [];
  #opened = false;

  constructor(options: StoreOptions) {
    this.#options = options;
    this.#layout = gpt2Layout(options.config);
    this.#log = new StepLog(options.folder);
    this.#sum = new Float32Array(this.#layout.size);
    this.#scratch = new Float32Array(this.#layout.size);
  }

  /** Opens an earlier state, or makes version 0. Any committed step is found again bit for bit. */
  open(): OpenedStore {
    const { folder, recipe } = this.#options;
    mkdirSync(join(folder, 'parameters'), { recursive: true });
    for (const name of readdirSync(folder)) {
      if (name.endsWith('.tmp')) rmSync(join(folder, name));
    }
    const repairs: string[] = [];
    const replayed: OpenedStore['replayed'] = [];
    const found = this.#loadSnapshot(repairs);
    if (!found) {
      const firstLogged = logVersions(folder)[0] ?? 0;
      if (firstLogged > 0) {
        throw new Error(`no usable snapshot in ${folder}, and its step log begins at version ${firstLogged}`);
      }
      this.#state = createOptimizerState(initialParameters(this.#layout, recipe.seed));
      this.#snapshotVersion = 0;
    }
    const { next, cut } = this.#log.replay(this.#snapshotVersion, this.#layout.size, (record) => {
      const result = adamwStep(this.#state, record.gradient, this.#layout, recipe, record.version);
      replayed.push({ version: record.version, meta: record.meta, result });
    });
    this.#version = next;
    if (cut !== null) repairs.push(cut);
    if (!found && snapshotVersions(folder).length === 0 && this.#version === 0) this.snapshot();
    rmSync(join(folder, 'parameters'), { recursive: true, force: true });
    this.#opened = true;
    return { ...this.publish(), replayed, repairs };
  }

  #loadSnapshot(repairs: string[]): boolean {
    for (const version of snapshotVersions(this.#options.folder)) {
      try {
        this.#state = readSnapshot(this.#options.folder, version, this.#layout.size);
        this.#snapshotVersion = version;
        return true;
      } catch (error) {
        repairs.push(`CHECKPOINT_CORRUPT: ${(error as Error).message}; falling back to the one before`);
      }
    }
    return false;
  }

  /** Checks a contribution and, if it is sound, adds it to the open step: wholly or not at all. */
  add(contribution: Contribution): Verdict {
    try {
      decodeVector(contribution.bytes, contribution.encoding, this.#scratch);
    } catch (error) {
      return { accepted: false, reason: (error as Error).message, finite: true };
    }
    const verdict = this.#gate.check(this.#scratch, contribution.samples);
    if (!verdict.accepted) return verdict;
    const { scale } = verdict;
    for (let i = 0; i < this.#sum.length; i++) {
      this.#sum[i] = (this.#sum[i] as number) + scale * (this.#scratch[i] as number);
    }
    this.#samples += contribution.samples;
    return verdict;
  }

  /**
   * Makes version + 1: the mean gradient is logged durably, then applied.
   * @throws Error when the samples in the sum are not exactly the global batch, or the log cannot be written; the
   * sum is kept, so that the commit can be tried again.
   */
  commit(meta: unknown): StepResult {
    const { globalBatch } = this.#options.recipe;
    if (this.#samples !== globalBatch) {
      throw new Error(`step ${this.#version} has ${this.#samples} samples, not ${globalBatch}`);
    }
    const gradient = this.#scratch;
    for (let i = 0; i < gradient.length; i++) gradient[i] = (this.#sum[i] as number) / globalBatch;
    this.#log.append({ version: this.#version, meta, gradient });
    const result = adamwStep(this.#state, gradient, this.#layout, this.#options.recipe, this.#version);
    this.#version++;
    this.discard();
    return result;
  }

  /** Whether enough has been logged since the last snapshot for another. */
  get snapshotDue(): boolean {
    return (
      this.#log.bytes > snapshotAfterLogRatio * 12 * this.#layout.size ||
      this.#version - this.#snapshotVersion >= snapshotAfterSteps
    );
  }

  /** Forgets the gradient sum of the open step. */
  discard(): void {
    this.#sum.fill(0);
    this.#samples = 0;
    this.#gate.openStep();
  }

  /** Writes a snapshot of the present version and drops what it makes superfluous. */
  snapshot(): void {
    const { folder } = this.#options;
    writeSnapshot(folder, this.#version, this.#state);
    this.#snapshotVersion = this.#version;
    this.#log.rotate(this.#version);
    this.#log.prune(pruneSnapshots(folder));
  }

  /** A copy of the float32 parameters. */
  parameters(): Float32Array<ArrayBuffer> {
    return Float32Array.from(this.#state.parameters);
  }

  /** Writes nothing where the store could not be opened. */
  close(): void {
    if (this.#opened && this.#snapshotVersion !== this.#version) this.snapshot();
    this.#log.close();
  }

  /** Writes the encoded parameters as an immutable file named by its hash; keeps this version's and the last one's. */
  publish(): ParameterVersion {
    const { folder, parameterEncoding } = this.#options;
    const raw = new Uint8Array(this.#state.parameters.buffer);
    const parametersHash = createHash('sha256').update(raw).digest('hex');
    const encoded = parameterEncoding === 'float32' ? raw : encodeVector(this.#state.parameters, 'float16');
    const hash =
      parameterEncoding === 'float32' ? parametersHash : createHash('sha256').update(encoded).digest('hex');
    const blobs = join(folder, 'parameters');
    mkdirSync(blobs, { recursive: true });
    const path = join(blobs, hash);
    if (!existsSync(path)) {
      writeFileSync(`${path}.tmp`, encoded);
      renameSync(`${path}.tmp`, path);
    }
    this.#blobs = [...this.#blobs.filter((name) => name !== hash), hash];
    while (this.#blobs.length > 2) rmSync(join(blobs, this.#blobs.shift() as string), { force: true });
    return { version: this.#version, parametersHash, blob: { hash, bytes: encoded.byteLength } };
  }
}
