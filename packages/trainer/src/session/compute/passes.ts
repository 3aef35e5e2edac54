/** The computation of one task: passes over its samples, with rests between them. */
import type { Task } from '@tabweave/shared';
import type { EncodedSum, Engine } from '../../engine/engine.ts';
import { breathe, sleep } from '../abort.ts';
import type { EngineGuard } from './engine-guard.ts';
import { restAfter } from './duty-cycle.ts';
import { shapeOf } from './shape-of.ts';

export interface PassPorts {
  engine: Engine;
  guard: EngineGuard;
  signal: AbortSignal;
  /** Share of time that the device may be busy; asked for after each pass. */
  dutyCycle(): number;
  onPass(samplesDone: number): void;
}

export interface Computed {
  lossSum: number;
  /** Null for an evaluation. */
  encoded: EncodedSum | null;
  /** Some pass paid for compilation. */
  cold: boolean;
}

/**
 * Computes all samples of `tokens` ([samples, blockSize + 1]) in passes of at most `task.passSize`.
 * The engine holds the task's parameters. Aborting ends it between two passes.
 */
export async function computePasses(task: Task, tokens: Int32Array, ports: PassPorts): Promise<Computed> {
  const { engine, guard, signal } = ports;
  const samples = task.samples.end - task.samples.start;
  const row = task.sampling.blockSize + 1;
  const train = task.kind === 'train';
  let cold = false;
  let evaluated = 0;
  if (train) engine.begin();
  for (let done = 0; done < samples; ) {
    await breathe(signal);
    const count = Math.min(task.passSize, samples - done);
    const pass = tokens.subarray(done * row, (done + count) * row);
    cold ||= engine.cold;
    const began = performance.now();
    if (train) await guard.whileAlive(engine.accumulate(pass, count));
    else evaluated += await guard.whileAlive(engine.evaluate(pass, count));
    const busy = performance.now() - began;
    done += count;
    ports.onPass(done);
    const rest = restAfter(busy, ports.dutyCycle());
    if (rest > 0) await sleep(rest, signal);
  }
  signal.throwIfAborted();
  if (!train) return { lossSum: evaluated, encoded: null, cold };
  const encoded = await guard.whileAlive(engine.finishEncoded(shapeOf(task), task.gradientEncoding));
  return { lossSum: encoded.lossSum, encoded, cold };
}
