/** One task from lease to receipt: download, compute, upload. */
import { type ContributionBegin, type ContributionReceipt, type Task } from '@tabweave/shared';
import { EngineError, type Engine } from '../engine/engine.ts';
import { checkTask } from './compute/check-task.ts';
import { EngineGuard } from './compute/engine-guard.ts';
import { computePasses } from './compute/passes.ts';
import { shapeOf } from './compute/shape-of.ts';
import type { Link } from './connection/link.ts';
import type { TaskInputs } from './download/task-inputs.ts';
import { TaskFailure } from './failure.ts';
import { Progress } from './progress.ts';
import type { SessionState } from './session-state.ts';
import { sendContribution } from './upload/send-contribution.ts';

/** A leased task with what it lives and ends with. */
export interface Job {
  task: Task;
  /** The connection that leased it. */
  link: Link;
  /** Aborted when the task is no longer to be worked on, the reason being an Error. */
  signal: AbortSignal;
  /** performance.now() at its arrival. */
  receivedAt: number;
}

export interface RunnerPorts {
  engine: Engine;
  inputs: TaskInputs;
  state: SessionState;
  dutyCycle(): number;
  /** The computation is over; what follows is only sending. */
  onUpload(job: Job): void;
}

export class TaskRunner {
  readonly #ports: RunnerPorts;
  readonly #guard: EngineGuard;
  /** What the engine holds: parameters, shape and block size. */
  #loaded = '';

  constructor(ports: RunnerPorts) {
    this.#ports = ports;
    this.#guard = new EngineGuard(ports.engine);
  }

  /** @throws whatever ended the task before its receipt; `toReport` says what the server is told. */
  async run(job: Job): Promise<ContributionReceipt> {
    const progress = new Progress(job.link, job.task.lease);
    try {
      return await this.#run(job, progress);
    } catch (error) {
      if (error instanceof EngineError) this.#loaded = '';
      throw error;
    } finally {
      progress.stop();
    }
  }

  async #run(job: Job, progress: Progress): Promise<ContributionReceipt> {
    const { task, link, signal } = job;
    const { engine, inputs, state } = this.#ports;
    signal.throwIfAborted();
    const started = performance.now();
    const samples = task.samples.end - task.samples.start;
    const describe = { kind: task.kind, version: task.version, samples, samplesDone: 0 };
    const work = task.kind === 'train' ? 'Training' : 'Evaluating';
    state.set({
      phase: 'downloading',
      message: `Downloading version ${task.version} of the model.`,
      task: describe,
    });
    progress.report('download', 0);
    checkTask(task);
    this.#warmUp(task);
    const tokens = await inputs.tokens(task, signal);
    const parameters = await inputs.parameters(task, signal);
    signal.throwIfAborted();
    const downloaded = performance.now();

    state.set({ phase: 'computing', message: `${work} on ${samples} samples of version ${task.version}.` });
    progress.report('compute', 0);
    await this.#load(task, parameters);
    const computed = await computePasses(task, tokens, {
      engine,
      guard: this.#guard,
      signal,
      dutyCycle: () => this.#ports.dutyCycle(),
      onPass: (samplesDone) => {
        state.set({ task: { ...describe, samplesDone } });
        progress.report('compute', samplesDone);
      },
    });
    if (!Number.isFinite(computed.lossSum)) {
      throw new TaskFailure('non-finite', `The loss is ${computed.lossSum}, not a finite number.`);
    }
    const finished = performance.now();

    const bytes = computed.encoded?.bytes ?? new Uint8Array(0);
    state.set({ phase: 'uploading', message: `Sending the result for version ${task.version}.` });
    this.#ports.onUpload(job);
    progress.report('upload', samples);
    const begin: ContributionBegin = {
      lease: task.lease,
      samples: task.samples,
      lossSum: computed.lossSum,
      encoding: task.gradientEncoding,
      bytes: bytes.byteLength,
      // Rests count as computing: they are part of how fast this worker is for the run.
      timings: {
        waitMilliseconds: started - job.receivedAt,
        downloadMilliseconds: downloaded - started,
        computeMilliseconds: finished - downloaded,
      },
      cold: computed.cold,
    };
    const { receipt, uploadMilliseconds } = await sendContribution(begin, bytes, {
      link,
      signal,
      onSent: (sent) => state.count('bytesUp', sent),
    });
    computed.encoded?.accepted();
    const { downloadMilliseconds, computeMilliseconds } = begin.timings;
    state.set({
      lastTimings: {
        download: downloadMilliseconds,
        compute: computeMilliseconds,
        upload: uploadMilliseconds,
      },
    });
    return receipt;
  }

  /** Compiles while the parameters come; what goes wrong here will show when the pass is run. */
  #warmUp({ kind, config, sampling, passSize, samples }: Task): void {
    if (kind !== 'train' || this.#loaded !== '') return;
    const size = Math.min(passSize, samples.end - samples.start);
    this.#ports.engine.prepare({ config, blockSize: sampling.blockSize }, size).catch(() => undefined);
  }

  async #load(task: Task, parameters: Float32Array): Promise<void> {
    const wanted = `${task.parameters.hash} ${shapeOf(task)}`;
    if (this.#loaded === wanted) return;
    // Until it has succeeded the engine may hold anything.
    this.#loaded = '';
    const { config, sampling } = task;
    const loading = this.#ports.engine.load({ config, blockSize: sampling.blockSize }, parameters);
    await this.#guard.whileAlive(loading);
    this.#loaded = wanted;
  }
}
