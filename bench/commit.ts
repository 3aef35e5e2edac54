/**
 * How long the server's event loop is held while a step of a large model commits: durable log, AdamW, publishing.
 * The parameter store has a thread of its own, so the answer should be: hardly. Bound: 50 ms.
 */
import { randomFillSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { StoreClient } from '../apps/server/src/parameters/store-client.ts';
import { countParameters, parseGpt2Config, recipeSchema } from '../packages/shared/src/index.ts';
import { median } from './statistics.ts';

export interface CommitResult {
  parameters: number;
  contributionsPerStep: number;
  /** Longest and 99th percentile delay of a timer on the event loop, milliseconds, over adds and commits. */
  blockMilliseconds: number;
  blockP99Milliseconds: number;
  /** Taking in one contribution, and committing a step; milliseconds, median over the steps. */
  addMilliseconds: number;
  commitMilliseconds: number;
}

/** 25 million parameters: 6 layers of width 512, a vocabulary of 11,000. */
const { config } = parseGpt2Config({
  n_layer: 6,
  n_head: 8,
  n_embd: 512,
  n_positions: 512,
  vocab_size: 11_000,
});

export async function measureCommit(steps = 4, contributionsPerStep = 2): Promise<CommitResult> {
  const folder = mkdtempSync(join(tmpdir(), 'tabweave-bench-'));
  const parameters = countParameters(config);
  const recipe = recipeSchema.parse({ blockSize: 512, globalBatch: contributionsPerStep });
  const store = new StoreClient({
    folder: join(folder, 'run'),
    config,
    recipe,
    parameterEncoding: 'float32',
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const blocks: { maximum: number; p99: number }[] = [];
  /** Only what happens between the two resets is counted: making the gradients blocks, and is the bench's own. */
  const watched = async (work: () => Promise<void>): Promise<number> => {
    await settle();
    delay.reset();
    const started = performance.now();
    await work();
    const elapsed = performance.now() - started;
    await settle();
    blocks.push({ maximum: delay.max / 1e6, p99: delay.percentile(99) / 1e6 });
    return elapsed;
  };
  const adds: number[] = [];
  const commits: number[] = [];
  try {
    await store.open();
    delay.enable();
    for (let step = 0; step < steps; step++) {
      for (let i = 0; i < contributionsPerStep; i++) {
        const bytes = new Uint8Array(gradient(parameters).buffer);
        const add = async (): Promise<void> => {
          const verdict = await store.add({ bytes, encoding: 'float32', samples: 1 });
          if (!verdict.accepted) throw new Error(`a contribution was refused: ${verdict.reason}`);
        };
        adds.push(await watched(add));
      }
      commits.push(await watched(async () => void (await store.commit({ step }))));
    }
  } finally {
    delay.disable();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    parameters,
    contributionsPerStep,
    blockMilliseconds: Math.max(...blocks.map((block) => block.maximum)),
    blockP99Milliseconds: Math.max(...blocks.map((block) => block.p99)),
    addMilliseconds: median(adds),
    commitMilliseconds: median(commits),
  };
}

/** Noise of magnitude around 1e-3, cheap to make: random signs and mantissas under one exponent. */
function gradient(length: number): Float32Array<ArrayBuffer> {
  const bits = new Uint32Array(length);
  const chunk = 2 ** 24;
  for (let start = 0; start < length; start += chunk) {
    randomFillSync(bits, start, Math.min(chunk, length - start));
  }
  for (let i = 0; i < length; i++) bits[i] = ((bits[i] as number) & 0x807fffff) | 0x3a800000;
  return new Float32Array(bits.buffer);
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
