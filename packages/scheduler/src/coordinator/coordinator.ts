/**
 * The coordinator of one synchronous run (see types.ts for its contract).
 *
 * Exactly once: a sample is in one place at a time: in the pool, under one live lease, or accepted. A contribution is
 * asked about first (`contribution-offered`); while its lease is live the answer is `accept-contribution`, and from
 * then on the lease neither expires nor ends with its worker, because the store may already have added it: only the
 * driver's `contribution-accepted` (the samples are done) or `contribution-refused` (they return to the pool) ends
 * it. Every other lease ends at its deadline, which progress renews only up to a hard limit, with its worker, or with
 * a failure; its samples return to the pool under a new, larger lease number, so that a late copy finds its number gone.
 */
import { EqualPolicy, ProportionalPolicy, roundCosts, type BatchPolicy } from '../batch/batch-policy.ts';
import type { SpeedEstimate } from '../batch/speed-estimate.ts';
import { balancedSizes } from '../batch/split.ts';
import { SamplePool } from './sample-pool.ts';
import type {
  Coordinator,
  CoordinatorCommand,
  CoordinatorConfig,
  CoordinatorEvent,
  CoordinatorView,
  LeasedTask,
  TaskKind,
  TaskTimings,
} from './types.ts';
import { WorkerState } from './worker-state.ts';

interface LiveLease {
  task: LeasedTask;
  worker: string;
  deadline: number;
  /** Progress does not renew beyond this. */
  hardDeadline: number;
  /** Accept has been answered; only the driver's report ends it. */
  takenIn: boolean;
}

const rememberedLeases = 1024;
const rememberedSpeeds = 256;

export function createCoordinator(config: CoordinatorConfig): Coordinator {
  return new SynchronousCoordinator(config);
}

class SynchronousCoordinator implements Coordinator {
  readonly #config: CoordinatorConfig;
  readonly #policy: BatchPolicy;
  readonly #workers = new Map<string, WorkerState>();
  readonly #leases = new Map<number, LiveLease>();
  readonly #pools: Record<TaskKind, SamplePool> = { train: new SamplePool(), evaluate: new SamplePool() };
  readonly #done: Record<TaskKind, number> = { train: 0, evaluate: 0 };
  readonly #due: Record<TaskKind, number> = { train: 0, evaluate: 0 };
  readonly #acceptedLeases = new Set<number>();
  readonly #departedSpeeds = new Map<string, SpeedEstimate>();
  #commands: CoordinatorCommand[] = [];
  #nextLease: number;
  #version = 0;
  #phase: 'idle' | 'stepping' | 'committing' | 'complete' = 'idle';
  #paused = false;
  /** A step's first distribution follows the batch policy; what returns to the pool is shared out by speed. */
  #planned = false;
  #gatherUntil: number | null = null;
  #requeued = 0;
  #refused = 0;

  constructor(config: CoordinatorConfig) {
    this.#config = config;
    this.#policy = config.batchPolicy === 'equal' ? new EqualPolicy() : new ProportionalPolicy();
    this.#nextLease = config.firstLease;
  }

  handle(event: CoordinatorEvent, now: number): CoordinatorCommand[] {
    this.#commands = [];
    this.#expire(now);
    this.#apply(event, now);
    this.#settle();
    this.#distribute(now);
    return this.#commands;
  }

  nextTick(): number | null {
    const times: number[] = [];
    for (const lease of this.#leases.values()) if (!lease.takenIn) times.push(lease.deadline);
    for (const worker of this.#workers.values()) {
      if (worker.setAsideUntil !== null) times.push(worker.setAsideUntil);
    }
    if (this.#gatherUntil !== null) times.push(this.#gatherUntil);
    return times.length === 0 ? null : Math.min(...times);
  }

  view(): CoordinatorView {
    const waiting = this.#pools.train.size + this.#pools.evaluate.size;
    const accepted = this.#done.train + this.#done.evaluate;
    return {
      phase: this.#viewPhase(),
      version: this.#version,
      samples: { waiting, leased: this.#due.train + this.#due.evaluate - waiting - accepted, accepted },
      requeued: this.#requeued,
      refused: this.#refused,
      workers: [...this.#workers.values()].map((worker) => worker.view()),
    };
  }

  #viewPhase(): CoordinatorView['phase'] {
    if (this.#paused && this.#phase !== 'complete') return 'paused';
    if (this.#phase === 'stepping' && (this.#gatherUntil !== null || this.#ableWorkers().length === 0)) {
      return 'gathering';
    }
    return this.#phase;
  }

  #apply(event: CoordinatorEvent, now: number): void {
    switch (event.type) {
      case 'run-opened':
        if (this.#phase !== 'idle') return;
        this.#openStep(event.version, event.evaluated);
        if (this.#ableWorkers().length > 0) this.#gather(now);
        return;
      case 'run-paused':
        this.#paused = true;
        for (const worker of this.#workers.values()) {
          if (worker.lease === null)
            this.#tell(worker, 'run-paused', 'The run is paused; work goes on when it is resumed.');
        }
        return;
      case 'run-resumed':
        this.#paused = false;
        return;
      case 'tick':
        return;
      case 'step-committed':
        if (this.#phase === 'committing' && event.version === this.#version + 1) {
          this.#openStep(event.version, false);
        }
        return;
      case 'worker-joined':
        this.#join(event.worker, event.profile.maxPassSize, now);
        return;
      case 'worker-left':
        this.#leave(event.worker);
        return;
      case 'worker-paused':
        this.#withWorker(event.worker, (worker) => void (worker.pausedReason = event.reason));
        return;
      case 'worker-resumed':
        this.#withWorker(event.worker, (worker) => {
          const first = this.#ableWorkers().length === 0;
          worker.pausedReason = null;
          if (first && worker.able) this.#gather(now);
        });
        return;
      case 'task-progress': {
        const lease = this.#heldLease(event.worker, event.lease);
        if (lease) lease.deadline = Math.min(lease.hardDeadline, now + lease.task.leaseMilliseconds);
        return;
      }
      case 'task-failed':
        this.#taskFailed(event, now);
        return;
      case 'contribution-offered':
        this.#offered(event.worker, event.lease);
        return;
      case 'contribution-accepted':
        this.#accepted(event.lease, event.timings);
        return;
      case 'contribution-refused':
        this.#refusedContribution(event.lease, event.message, now);
        return;
    }
  }

  #openStep(version: number, evaluated: boolean): void {
    const { maxSteps, evaluateEvery, evaluationSamples, globalBatch } = this.#config;
    const evaluationDue =
      !evaluated &&
      evaluateEvery > 0 &&
      version > 0 &&
      (version % evaluateEvery === 0 || version === maxSteps);
    this.#version = version;
    this.#due.train = version < maxSteps ? globalBatch : 0;
    this.#due.evaluate = evaluationDue ? evaluationSamples : 0;
    for (const kind of ['train', 'evaluate'] as const) {
      this.#pools[kind].reset(this.#due[kind]);
      this.#done[kind] = 0;
    }
    this.#planned = false;
    this.#requeued = 0;
    this.#refused = 0;
    this.#phase = 'stepping';
  }

  #gather(now: number): void {
    this.#gatherUntil = now + this.#config.gatherMilliseconds;
  }

  #join(id: string, maxPassSize: number, now: number): void {
    this.#leave(id);
    const first = this.#ableWorkers().length === 0;
    this.#workers.set(id, new WorkerState(id, maxPassSize, this.#departedSpeeds.get(id)));
    this.#departedSpeeds.delete(id);
    if (first) this.#gather(now);
  }

  #leave(id: string): void {
    const worker = this.#workers.get(id);
    if (!worker) return;
    if (worker.lease !== null) this.#requeue(worker.lease);
    this.#workers.delete(id);
    if (!worker.speed.known) return;
    this.#departedSpeeds.set(id, worker.speed);
    if (this.#departedSpeeds.size > rememberedSpeeds) {
      this.#departedSpeeds.delete(this.#departedSpeeds.keys().next().value as string);
    }
  }

  #expire(now: number): void {
    for (const [number, lease] of this.#leases) {
      if (lease.takenIn || lease.deadline > now) continue;
      this.#requeue(number);
      this.#commands.push({
        type: 'cancel',
        worker: lease.worker,
        lease: number,
        reason: 'It took longer than its lease; the work goes to someone else.',
      });
      this.#withWorker(lease.worker, (worker) => {
        if (worker.fail('its tasks took longer than their leases', now, this.#config))
          this.#tellSetAside(worker, now);
      });
    }
    for (const worker of this.#workers.values()) {
      if (worker.setAsideUntil === null || worker.setAsideUntil > now) continue;
      const first = this.#ableWorkers().length === 0;
      worker.setAsideUntil = null;
      worker.told = '';
      if (first && worker.able) this.#gather(now);
    }
    if (this.#gatherUntil !== null && this.#gatherUntil <= now) this.#gatherUntil = null;
  }

  #taskFailed(event: Extract<CoordinatorEvent, { type: 'task-failed' }>, now: number): void {
    const lease = this.#heldLease(event.worker, event.lease);
    const worker = this.#workers.get(event.worker);
    if (!lease || lease.takenIn || !worker) return;
    switch (event.reason) {
      case 'out-of-memory':
      case 'shader-compilation':
        if (worker.passSize > 1) {
          // Half as much at one time, and the same samples again to the same worker: its data are there already.
          worker.passSize = Math.floor(Math.min(worker.passSize, size(lease.task)) / 2) || 1;
          worker.failures++;
          this.#drop(event.lease);
          this.#lease(worker, lease.task.kind, lease.task.samples, now);
          return;
        }
        this.#requeue(event.lease);
        worker.failures++;
        worker.setAside(event.message, now, this.#config);
        this.#tellSetAside(worker, now);
        return;
      case 'cancelled':
        this.#requeue(event.lease);
        return;
      case 'device-lost':
      case 'gpu-error':
      case 'non-finite':
      case 'download':
      case 'bad-data':
      case 'internal':
        this.#requeue(event.lease);
        if (worker.fail(event.message, now, this.#config)) this.#tellSetAside(worker, now);
        return;
    }
  }

  #offered(worker: string, number: number): void {
    const lease = this.#heldLease(worker, number);
    if (lease && !lease.takenIn) {
      lease.takenIn = true;
      this.#commands.push({ type: 'accept-contribution', worker, lease: number, task: lease.task });
      return;
    }
    const duplicate = lease !== undefined || this.#acceptedLeases.has(number);
    this.#commands.push({
      type: 'refuse-contribution',
      worker,
      lease: number,
      code: duplicate ? 'DUPLICATE' : 'LEASE_EXPIRED',
      reason: duplicate
        ? `The contribution of lease ${number} has been counted already.`
        : `Lease ${number} has ended; the work was given to someone else.`,
    });
  }

  #accepted(number: number, timings: TaskTimings): void {
    const lease = this.#leases.get(number);
    if (!lease?.takenIn) return;
    this.#drop(number);
    this.#acceptedLeases.add(number);
    if (this.#acceptedLeases.size > rememberedLeases) {
      this.#acceptedLeases.delete(this.#acceptedLeases.values().next().value as number);
    }
    const samples = size(lease.task);
    this.#done[lease.task.kind] += samples;
    this.#withWorker(lease.worker, (worker) => {
      worker.succeed(samples);
      if (timings.cold || lease.task.kind === 'evaluate') return;
      worker.speed.observe(
        samples,
        timings.computeMilliseconds,
        timings.downloadMilliseconds + timings.uploadMilliseconds,
      );
    });
  }

  #refusedContribution(number: number, message: string, now: number): void {
    const lease = this.#leases.get(number);
    if (!lease) return;
    this.#requeue(number, true);
    this.#refused++;
    this.#withWorker(lease.worker, (worker) => {
      worker.refusedContributions++;
      if (worker.fail(message, now, this.#config)) this.#tellSetAside(worker, now);
    });
  }

  /** Says what has become complete. */
  #settle(): void {
    if (this.#phase !== 'stepping') return;
    const { train, evaluate } = this.#done;
    if (this.#due.evaluate > 0 && evaluate === this.#due.evaluate) {
      this.#commands.push({ type: 'evaluation-complete', version: this.#version });
      this.#due.evaluate = 0;
      this.#done.evaluate = 0;
    }
    if (this.#due.evaluate > 0 || train < this.#due.train) return;
    if (this.#version >= this.#config.maxSteps) {
      this.#phase = 'complete';
      this.#commands.push({ type: 'run-complete', version: this.#version });
    } else {
      this.#phase = 'committing';
      this.#commands.push({ type: 'commit-step', version: this.#version });
    }
  }

  #distribute(now: number): void {
    if (this.#phase !== 'stepping' || this.#paused || this.#gatherUntil !== null) return;
    if (!this.#planned && this.#due.train > 0) this.#distributePlan(now);
    this.#distributePool('train', now);
    this.#distributePool('evaluate', now);
    for (const worker of this.#ableWorkers()) {
      if (worker.lease !== null) continue;
      if (worker.microBatch > 0 || this.#planned === false) {
        this.#tell(worker, 'waiting-for-step', 'Waiting for the others to complete this step.');
      } else {
        this.#tell(
          worker,
          'no-share',
          'This step is small enough for the faster workers; you may be needed in the next.',
        );
      }
    }
  }

  /** The first distribution of a step: sizes by the batch policy. */
  #distributePlan(now: number): void {
    const able = this.#ableWorkers();
    if (able.length === 0) return;
    const sizes = this.#policy.plan(
      this.#due.train,
      able.map((worker) => ({ worker: worker.id, speed: worker.speed })),
    );
    for (const worker of this.#workers.values()) worker.microBatch = 0;
    for (const [index, worker] of able.entries()) {
      worker.microBatch = sizes[index] ?? 0;
      if (worker.lease !== null) continue;
      const samples = this.#pools.train.take(worker.microBatch);
      if (samples) this.#lease(worker, 'train', samples, now);
    }
    this.#planned = true;
  }

  /** What waits goes to idle workers, in sizes that would finish together; those with fewer failures come first. */
  #distributePool(kind: TaskKind, now: number): void {
    const pool = this.#pools[kind];
    const idle = this.#ableWorkers()
      .filter((worker) => worker.lease === null)
      .sort((a, b) => a.failuresInRow - b.failuresInRow);
    if (pool.empty || idle.length === 0) return;
    // Evaluation waits for the others who will be free soon; returned training samples hold up the step.
    const sharers = kind === 'evaluate' ? this.#ableWorkers() : idle;
    const total = kind === 'evaluate' ? this.#due.evaluate : pool.size;
    const costs = roundCosts(sharers.map((worker) => ({ worker: worker.id, speed: worker.speed })));
    const sizes = balancedSizes(total, costs);
    for (const worker of idle) {
      const samples = pool.take(Math.max(1, sizes[sharers.indexOf(worker)] ?? 0));
      if (!samples) return;
      this.#lease(worker, kind, samples, now);
    }
  }

  #lease(worker: WorkerState, kind: TaskKind, samples: LeasedTask['samples'], now: number): void {
    const { lease: bounds } = this.#config;
    const count = samples.end - samples.start;
    const wanted = worker.speed.known
      ? bounds.factor * worker.speed.predict(count)
      : bounds.unknownMilliseconds;
    const leaseMilliseconds = Math.min(
      bounds.maximumMilliseconds,
      Math.max(bounds.minimumMilliseconds, wanted),
    );
    const task: LeasedTask = {
      lease: this.#nextLease++,
      kind,
      version: this.#version,
      samples,
      passSize: Math.min(worker.passSize, count),
      leaseMilliseconds,
    };
    worker.lease = task.lease;
    worker.told = '';
    this.#leases.set(task.lease, {
      task,
      worker: worker.id,
      deadline: now + leaseMilliseconds,
      hardDeadline: now + bounds.maximumMilliseconds,
      takenIn: false,
    });
    this.#commands.push({ type: 'lease', worker: worker.id, task });
  }

  /** Ends a lease and puts its samples back, unless they are being taken in (`force`: the driver has reported). */
  #requeue(number: number, force = false): void {
    const lease = this.#leases.get(number);
    if (!lease || (lease.takenIn && !force)) return;
    this.#drop(number);
    this.#pools[lease.task.kind].put(lease.task.samples);
    this.#requeued++;
  }

  #drop(number: number): void {
    const lease = this.#leases.get(number);
    this.#leases.delete(number);
    const worker = lease && this.#workers.get(lease.worker);
    if (worker?.lease === number) worker.lease = null;
  }

  #heldLease(worker: string, number: number): LiveLease | undefined {
    const lease = this.#leases.get(number);
    return lease?.worker === worker ? lease : undefined;
  }

  #ableWorkers(): WorkerState[] {
    return [...this.#workers.values()].filter((worker) => worker.able);
  }

  #withWorker(id: string, action: (worker: WorkerState) => void): void {
    const worker = this.#workers.get(id);
    if (worker) action(worker);
  }

  #tell(
    worker: WorkerState,
    code: 'waiting-for-step' | 'no-share' | 'set-aside' | 'run-paused',
    message: string,
  ): void {
    if (worker.told === message) return;
    worker.told = message;
    this.#commands.push({ type: 'notify', worker: worker.id, code, message });
  }

  #tellSetAside(worker: WorkerState, now: number): void {
    const minutes = Math.ceil(((worker.setAsideUntil ?? now) - now) / 60_000);
    this.#tell(
      worker,
      'set-aside',
      `Set aside for ${minutes} min: ${worker.setAsideReason}. It is tried again after that.`,
    );
  }
}

function size(task: LeasedTask): number {
  return task.samples.end - task.samples.start;
}
