/**
 * Turns one run's coordinator: feeds it what sockets and the parameter store report, carries out its commands.
 * All decisions are the coordinator's; all numbers are the store's.
 */
import { EventEmitter } from 'node:events';
import {
  ProblemError,
  evaluationSampleCount,
  type ContributionBegin,
  type FailureReason,
  type MetricPoint,
  type Worker,
} from '@tabweave/shared';
import {
  createCoordinator,
  type Coordinator,
  type CoordinatorCommand,
  type CoordinatorEvent,
  type LeasedTask,
  type TaskTimings,
} from '@tabweave/scheduler';
import type { FastifyBaseLogger } from 'fastify';
import type { Verdict } from '../parameters/gate.ts';
import { StoreClient } from '../parameters/store-client.ts';
import type { OpenedStore, ParameterVersion, StoreOptions } from '../parameters/store.ts';
import { checkFitsTask } from './announcement.ts';
import { largestPassSize, type RunDefinition } from './definition.ts';
import { DivergenceWatch } from './divergence.ts';
import type { RunHistory } from './history.ts';
import { isDiskFull } from '../storage/disk-full.ts';
import { OpenStep } from './open-step.ts';
import { taskMessage } from './task-message.ts';
import type { WorkerLink } from './worker-link.ts';

/** What the log record of a step keeps for the history. */
type StepMeta = Omit<MetricPoint, 'learningRate' | 'gradientNorm' | 'clipped' | 'validationLoss'>;

export interface DriverOptions {
  definition: RunDefinition;
  folder: string;
  history: RunHistory;
  log: FastifyBaseLogger;
  /** How long to wait for workers to gather when a step could open. */
  gatherMilliseconds: number;
}

interface DriverEvents {
  committed: [point: MetricPoint, parameters: ParameterVersion];
  validated: [step: number, loss: number];
  changed: [];
  /** The run cannot go on by itself; an admin has to look. */
  halted: [reason: string];
  complete: [];
}

const diskRetryMilliseconds = 5000;

export function storeOptions(definition: RunDefinition, folder: string): StoreOptions {
  const { config, recipe, strategy } = definition;
  return { folder, config, recipe, parameterEncoding: strategy.parameterEncoding };
}

export class RunDriver extends EventEmitter<DriverEvents> {
  readonly definition: RunDefinition;
  readonly #options: DriverOptions;
  readonly #store: StoreClient;
  readonly #links = new Map<string, WorkerLink>();
  readonly #leases = new Map<number, { worker: string; task: LeasedTask }>();
  readonly #divergence = new DivergenceWatch();
  #coordinator!: Coordinator;
  #parameters!: ParameterVersion;
  #step = new OpenStep();
  #timer: NodeJS.Timeout | undefined;
  #committing: Promise<void> = Promise.resolve();
  #closed = false;
  /** Why nothing moves although the run is on, in words; empty when it does. */
  trouble = '';

  constructor(options: DriverOptions) {
    super();
    this.#options = options;
    this.definition = options.definition;
    this.#store = new StoreClient(storeOptions(options.definition, options.folder));
  }

  get parameters(): ParameterVersion {
    return this.#parameters;
  }

  get version(): number {
    return this.#parameters.version;
  }

  get workerCount(): number {
    return this.#links.size;
  }

  /** Opens the parameters where they were, fills in history that a crash left out, and begins to lease. */
  async open(): Promise<OpenedStore> {
    const opened = await this.#store.open();
    this.#parameters = opened;
    for (const repair of opened.repairs) this.#options.log.warn({ run: this.definition.id }, repair);
    const { recipe, strategy, sampling } = this.definition;
    for (const step of opened.replayed) {
      const point: MetricPoint = { ...(step.meta as StepMeta), ...step.result, validationLoss: null };
      await this.#options.history.record(this.definition.id, point);
    }
    const last = (await this.#options.history.recent(this.definition.id, 1))[0];
    this.#coordinator = createCoordinator({
      globalBatch: recipe.globalBatch,
      maxSteps: recipe.maxSteps,
      evaluateEvery: recipe.evaluateEvery,
      evaluationSamples: recipe.evaluateEvery > 0 ? evaluationSampleCount(sampling) : 0,
      batchPolicy: strategy.batchPolicy,
      firstLease: Date.now() * 1000,
      gatherMilliseconds: this.#options.gatherMilliseconds,
      lease: {
        minimumMilliseconds: 20_000,
        maximumMilliseconds: 900_000,
        factor: 5,
        unknownMilliseconds: 180_000,
      },
      setAside: { failures: 3, milliseconds: 60_000 },
    });
    const evaluated = last?.step === opened.version && last.validationLoss !== null;
    this.#feed({ type: 'run-opened', version: opened.version, evaluated });
    return opened;
  }

  /** @returns why the worker cannot work for this run, or null when it can and has joined. */
  join(link: WorkerLink): string | null {
    const { passSize, reason } = largestPassSize(this.definition, link.device);
    if (passSize === 0) return reason;
    this.#links.set(link.id, link);
    this.#feed({ type: 'worker-joined', worker: link.id, profile: { maxPassSize: passSize } });
    if (link.pausedReason !== null) this.pauseWorker(link.id, link.pausedReason);
    this.emit('changed');
    return null;
  }

  leave(worker: string): void {
    if (!this.#links.delete(worker)) return;
    for (const [lease, held] of this.#leases) if (held.worker === worker) this.#leases.delete(lease);
    this.#feed({ type: 'worker-left', worker });
    this.emit('changed');
  }

  pauseWorker(worker: string, reason: string): void {
    this.#feed({ type: 'worker-paused', worker, reason });
    this.emit('changed');
  }

  resumeWorker(worker: string): void {
    this.#feed({ type: 'worker-resumed', worker });
    this.emit('changed');
  }

  progress(worker: string, lease: number): void {
    this.#feed({ type: 'task-progress', worker, lease });
  }

  taskFailed(worker: string, failure: { lease: number; reason: FailureReason; message: string }): void {
    const held = this.#leases.get(failure.lease);
    if (held?.worker !== worker) return;
    this.#leases.delete(failure.lease);
    if (failure.reason === 'non-finite') this.#noteDivergence(worker, held.task.version);
    this.#feed({ type: 'task-failed', worker, ...failure });
    this.emit('changed');
  }

  /**
   * Checks a contribution's announcement before its bytes are sent.
   * @throws ProblemError when it would not count, or is not what the task asked for.
   */
  checkAnnouncement(worker: string, begin: ContributionBegin): void {
    const task = this.#heldTask(worker, begin.lease);
    checkFitsTask(this.definition, task, begin);
    const meanLoss = begin.lossSum / (task.samples.end - task.samples.start);
    if (!Number.isFinite(meanLoss) || meanLoss < 0 || meanLoss > 1e4) {
      this.#noteDivergence(worker, task.version);
      this.#refuse(worker, begin.lease, `its loss ${begin.lossSum} is not a sane number`);
    }
  }

  /**
   * Takes in a whole contribution: counts it exactly once, or says why not.
   * @param bytes the encoded gradient sum; handed over.
   */
  async contribute(
    link: WorkerLink,
    begin: ContributionBegin,
    bytes: Uint8Array | null,
    uploadMilliseconds: number,
  ): Promise<number> {
    const worker = link.id;
    this.#heldTask(worker, begin.lease);
    const commands = this.#coordinator.handle(
      { type: 'contribution-offered', worker, lease: begin.lease },
      performance.now(),
    );
    const verdict = commands.find(
      (command) => command.type === 'accept-contribution' || command.type === 'refuse-contribution',
    );
    this.#execute(commands.filter((command) => command !== verdict));
    if (verdict?.type !== 'accept-contribution') {
      throw new ProblemError(
        verdict?.type === 'refuse-contribution' ? verdict.code : 'LEASE_EXPIRED',
        verdict?.type === 'refuse-contribution' ? verdict.reason : 'This work is not leased to you any more.',
      );
    }
    const { task } = verdict;
    const samples = task.samples.end - task.samples.start;
    const size = bytes?.byteLength ?? 0;
    if (bytes) {
      let outcome: Verdict;
      try {
        outcome = await this.#store.add({ bytes, encoding: begin.encoding, samples });
      } catch (error) {
        this.#leases.delete(begin.lease);
        this.#feed({ type: 'contribution-dropped', worker, lease: begin.lease });
        throw error;
      }
      if (!outcome.accepted) {
        if (!outcome.finite) this.#noteDivergence(worker, task.version);
        this.#refuse(worker, begin.lease, outcome.reason);
      }
    }
    this.#leases.delete(begin.lease);
    this.#divergence.accepted(task.version);
    this.trouble = '';
    this.#step.accept(worker, task.kind, begin.lossSum, size);
    link.totals.acceptedSamples += samples;
    link.totals.acceptedContributions++;
    const timings: TaskTimings = {
      downloadMilliseconds: begin.timings.downloadMilliseconds,
      computeMilliseconds: begin.timings.computeMilliseconds,
      uploadMilliseconds,
      cold: begin.cold,
    };
    this.#feed({ type: 'contribution-accepted', worker, lease: begin.lease, timings });
    this.emit('changed');
    return samples;
  }

  pause(): void {
    this.#feed({ type: 'run-paused' });
  }

  resume(): void {
    this.trouble = '';
    this.#divergence.reset();
    this.#feed({ type: 'run-resumed' });
  }

  view(): ReturnType<Coordinator['view']> {
    return this.#coordinator.view();
  }

  workers(): Worker[] {
    const { globalBatch } = this.definition.recipe;
    return this.view().workers.flatMap((view) => {
      const link = this.#links.get(view.worker);
      if (!link) return [];
      const { worker, ...figures } = view;
      return {
        ...figures,
        id: worker,
        name: link.name,
        backend: link.device.backend,
        adapter: link.device.adapter,
        environment: link.device.environment,
        share: view.microBatch / globalBatch,
        connectedAt: link.connectedAt,
        lastSeenAt: link.lastSeenAt,
      };
    });
  }

  /** Links that work for this run, for whoever has to tell them something. */
  links(): WorkerLink[] {
    return [...this.#links.values()];
  }

  /** A copy of the float32 parameters at the last committed version. */
  exportParameters(): Promise<Float32Array> {
    return this.#store.parameters();
  }

  /** Cancels what is leased, lets a commit finish, snapshots. Gives back the links for other work. */
  async close(reason: string): Promise<WorkerLink[]> {
    if (this.#closed) return [];
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const [lease, { worker }] of this.#leases) this.#links.get(worker)?.cancel(lease, reason);
    this.#leases.clear();
    await this.#committing;
    await this.#store.close();
    const links = this.links();
    this.#links.clear();
    return links;
  }

  #heldTask(worker: string, lease: number): LeasedTask {
    const held = this.#leases.get(lease);
    if (!held || held.worker !== worker) {
      throw new ProblemError(
        'LEASE_EXPIRED',
        `Lease ${lease} is not yours any more; the work was given to someone else or is done.`,
      );
    }
    return held.task;
  }

  #refuse(worker: string, lease: number, reason: string): never {
    this.#leases.delete(lease);
    const link = this.#links.get(worker);
    if (link) link.totals.refusedContributions++;
    this.#options.log.warn({ run: this.definition.id, worker, lease, reason }, 'contribution refused');
    this.#feed({ type: 'contribution-refused', worker, lease, message: reason });
    this.emit('changed');
    throw new ProblemError('INVALID_CONTRIBUTION', `The contribution was refused: ${reason}.`);
  }

  #noteDivergence(worker: string, version: number): void {
    const divergence = this.#divergence.nonFinite(worker, version, this.#whoCouldAnswer());
    if (!divergence) return;
    this.trouble = divergence.reason;
    if (divergence.certain) this.emit('halted', divergence.reason);
  }

  /** Workers that are not paused: set aside or not, each may have seen what the others see. */
  #whoCouldAnswer(): string[] {
    return this.links().flatMap((link) => (link.pausedReason === null ? [link.id] : []));
  }

  #feed(event: CoordinatorEvent): void {
    if (this.#closed) return;
    this.#execute(this.#coordinator.handle(event, performance.now()));
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const at = this.#coordinator.nextTick();
    if (at === null || this.#closed) return;
    const delay = Math.min(Math.max(0, at - performance.now()), 60_000);
    this.#timer = setTimeout(() => this.#feed({ type: 'tick' }), Math.ceil(delay));
  }

  #execute(commands: CoordinatorCommand[]): void {
    for (const command of commands) {
      switch (command.type) {
        case 'lease':
          this.#leases.set(command.task.lease, { worker: command.worker, task: command.task });
          if (command.task.kind === 'train') this.#step.startedAt ??= performance.now();
          this.#links
            .get(command.worker)
            ?.sendTask(taskMessage(this.definition, this.#parameters, command.task));
          break;
        case 'cancel':
          this.#leases.delete(command.lease);
          this.#links.get(command.worker)?.cancel(command.lease, command.reason);
          break;
        case 'notify':
          this.#links.get(command.worker)?.notify({ code: command.code, message: command.message });
          break;
        case 'evaluation-complete':
          this.#validated(command.version);
          break;
        case 'commit-step':
          this.#committing = this.#commit(command.version);
          break;
        case 'run-complete':
          // The handler of the last contribution must have answered its worker before the run is taken down.
          setImmediate(() => this.emit('complete'));
          break;
        case 'accept-contribution':
        case 'refuse-contribution':
          break;
      }
    }
  }

  #validated(version: number): void {
    const loss = this.#step.evaluationLossSum / evaluationSampleCount(this.definition.sampling);
    void this.#untilStored(() => this.#options.history.recordValidation(this.definition.id, version, loss))
      .then(() => this.emit('validated', version, loss))
      .catch((error: unknown) => this.#halt(error));
  }

  async #commit(version: number): Promise<void> {
    const view = this.view();
    const { recipe, id } = this.definition;
    const milliseconds = performance.now() - (this.#step.startedAt ?? performance.now());
    const meta: StepMeta = {
      step: version + 1,
      trainLoss: this.#step.trainLossSum / recipe.globalBatch,
      samples: recipe.globalBatch,
      tokensPerSecond: (1000 * recipe.globalBatch * recipe.blockSize) / Math.max(1, milliseconds),
      stepMilliseconds: milliseconds,
      workers: this.#step.workers.size,
      requeued: view.requeued,
      refused: view.refused,
      bytesUp: this.#step.bytesUp,
      at: new Date().toISOString(),
    };
    try {
      const committed = await this.#untilStored(() => this.#store.commit(meta));
      if (committed.snapshotError !== undefined) {
        this.#options.log.error({ run: id }, `snapshot failed: ${committed.snapshotError}`);
      }
      const point: MetricPoint = { ...meta, ...committed.result, validationLoss: null };
      this.#parameters = committed;
      await this.#untilStored(() => this.#options.history.record(id, point));
      this.#step = new OpenStep();
      this.emit('committed', point, committed);
      this.#feed({ type: 'step-committed', version: committed.version });
    } catch (error) {
      this.#halt(error);
    }
  }

  /** A full disk is waited out: nothing is acknowledged meanwhile, and nothing is lost. */
  async #untilStored<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await write();
        if (this.trouble !== '') {
          this.trouble = '';
          this.emit('changed');
        }
        return result;
      } catch (error) {
        if (!isDiskFull(error) || this.#closed) throw error;
        this.trouble = `The disk is full (${(error as Error).message}). Free some space: the step is tried again every ${diskRetryMilliseconds / 1000} s.`;
        this.#options.log.error({ run: this.definition.id }, this.trouble);
        this.emit('changed');
        await new Promise((resolve) => setTimeout(resolve, diskRetryMilliseconds));
        if (this.#closed) throw error;
      }
    }
  }

  #halt(error: unknown): void {
    if (this.#closed) return;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.log.error({ run: this.definition.id, err: error }, 'the run cannot go on');
    this.trouble = reason;
    this.emit('halted', reason);
  }
}
