/**
 * The coordinator of one synchronous run (see types.ts for its contract).
 *
 * Exactly once: a sample of the open step is in one place at a time: in a pool, under one live lease, or accepted.
 * - A contribution is asked about first (`contribution-offered`). While its lease is live and its worker's, the answer
 *   is `accept-contribution`, and the lease is taken in: it neither expires nor ends with its worker, because the
 *   store may already have added the gradient, and samples leased again then would count twice.
 * - Only the driver's report ends it: `contribution-accepted` (the samples are done), or `contribution-refused` and
 *   `contribution-dropped` (they return to the pool). The driver always gives one of these, whatever has become of the worker, and takes a
 *   contribution in only once all its bytes are at hand; so what bounds this time is the store, not the worker.
 * - Every other lease ends by itself: at its deadline, which progress renews only up to a hard limit, with its worker,
 *   or with a failure. Its samples go out again under a larger number, so a late copy finds its own number gone.
 * - A step commits when nothing of it is in a pool or under a lease, so no lease outlives its version.
 */
import { type BatchPolicy, EqualPolicy, ProportionalPolicy } from '../batch/batch-policy.ts';
import { planShares, poolShares, type Share } from './distribution.ts';
import { LeaseBook, type LiveLease } from './lease-book.ts';
import { OpenStep } from './open-step.ts';
import { Roster } from './roster.ts';
import type {
  Coordinator,
  CoordinatorCommand,
  CoordinatorConfig,
  CoordinatorEvent,
  CoordinatorView,
  LeasedTask,
  TaskTimings,
} from './types.ts';
import type { WorkerState } from './worker-state.ts';

/** Progress may renew a lease to so many times its length, and never beyond the longest lease. */
const longestRenewal = 3;
/** What a cancellation, or a lease lost with its worker, counts beside a failure. */
const lightFailure = 0.5;

export function createCoordinator(config: CoordinatorConfig): Coordinator {
  return new SynchronousCoordinator(config);
}

class SynchronousCoordinator implements Coordinator {
  readonly #config: CoordinatorConfig;
  readonly #policy: BatchPolicy;
  readonly #roster = new Roster();
  readonly #leases: LeaseBook;
  #commands: CoordinatorCommand[] = [];
  #phase: 'idle' | 'stepping' | 'committing' | 'complete' = 'idle';
  #step: OpenStep | null = null;
  #paused = false;
  #gatherUntil: number | null = null;

  constructor(config: CoordinatorConfig) {
    this.#config = config;
    this.#policy = config.batchPolicy === 'equal' ? new EqualPolicy() : new ProportionalPolicy();
    this.#leases = new LeaseBook(config.firstLease);
  }

  handle(event: CoordinatorEvent, now: number): CoordinatorCommand[] {
    this.#commands = [];
    this.#passTime(now);
    this.#apply(event, now);
    this.#settle();
    this.#distribute(now);
    return this.#commands;
  }

  nextTick(): number | null {
    let earliest = Math.min(this.#leases.earliestDeadline(), this.#gatherUntil ?? Infinity);
    for (const { standing } of this.#roster.all())
      earliest = Math.min(earliest, standing.setAsideUntil ?? Infinity);
    return earliest === Infinity ? null : earliest;
  }

  view(): CoordinatorView {
    return {
      phase: this.#viewPhase(),
      version: this.#step?.version ?? 0,
      samples: this.#step?.samples() ?? { waiting: 0, leased: 0, accepted: 0 },
      requeued: this.#step?.requeued ?? 0,
      refused: this.#step?.refused ?? 0,
      workers: this.#roster.all().map((worker) => worker.view()),
    };
  }

  #viewPhase(): CoordinatorView['phase'] {
    if (this.#paused && this.#phase !== 'complete') return 'paused';
    const gathering = this.#gatherUntil !== null || this.#roster.able().length === 0;
    return this.#phase === 'stepping' && gathering ? 'gathering' : this.#phase;
  }

  #apply(event: CoordinatorEvent, now: number): void {
    switch (event.type) {
      case 'run-opened':
        if (this.#phase !== 'idle') return;
        this.#openStep(event.version, event.evaluated);
        if (this.#roster.able().length > 0) this.#gather(now);
        return;
      case 'run-paused':
        this.#paused = true;
        return;
      case 'run-resumed':
        this.#paused = false;
        return;
      case 'tick':
        return;
      case 'step-committed':
        if (this.#phase === 'committing' && event.version === (this.#step?.version ?? 0) + 1) {
          this.#openStep(event.version, false);
        }
        return;
      case 'worker-joined':
        this.#leave(event.worker, now);
        this.#becomingAble(now, () => this.#join(event.worker, event.profile.maxPassSize, now));
        return;
      case 'worker-left':
        this.#leave(event.worker, now);
        return;
      case 'worker-paused': {
        const worker = this.#roster.get(event.worker);
        if (worker) worker.pausedReason = event.reason;
        return;
      }
      case 'worker-resumed': {
        const worker = this.#roster.get(event.worker);
        if (worker) this.#becomingAble(now, () => void (worker.pausedReason = null));
        return;
      }
      case 'task-progress': {
        const lease = this.#leases.heldBy(event.worker, event.lease);
        if (lease) this.#leases.renew(lease, now);
        return;
      }
      case 'task-failed':
        this.#taskFailed(event, now);
        return;
      case 'contribution-offered':
        this.#offered(event.worker, event.lease, now);
        return;
      case 'contribution-accepted':
        this.#accepted(event.lease, event.timings);
        return;
      case 'contribution-refused':
        this.#refused(event.lease, event.message, now);
        return;
      case 'contribution-dropped': {
        const lease = this.#leases.get(event.lease);
        if (lease) this.#requeue(lease);
        return;
      }
    }
  }

  #openStep(version: number, evaluated: boolean): void {
    this.#step = new OpenStep(version, evaluated, this.#config);
    this.#phase = 'stepping';
  }

  #gather(now: number): void {
    this.#gatherUntil = now + this.#config.gatherMilliseconds;
  }

  /** Makes a change after which, perhaps, there is a first able worker: others are then waited for. */
  #becomingAble(now: number, change: () => void): void {
    const wasNone = this.#roster.able().length === 0;
    change();
    if (wasNone && this.#roster.able().length > 0) this.#gather(now);
  }

  #join(id: string, maxPassSize: number, now: number): void {
    const worker = this.#roster.join(id, maxPassSize, now);
    if (worker.standing.setAsideUntil !== null) this.#tellSetAside(worker, now);
  }

  #leave(id: string, now: number): void {
    const worker = this.#roster.get(id);
    if (!worker) return;
    const lease = worker.lease === null ? undefined : this.#leases.get(worker.lease);
    if (lease && lease.takenInAt === null) {
      this.#requeue(lease);
      const failure = {
        kind: lease.task.kind,
        reason: 'it left in the middle of a task, several times',
        weight: lightFailure,
      };
      worker.standing.fail(failure, now, this.#config);
    }
    this.#roster.leave(id);
  }

  #passTime(now: number): void {
    for (const lease of this.#leases.expired(now)) {
      this.#requeue(lease);
      this.#commands.push({
        type: 'cancel',
        worker: lease.worker,
        lease: lease.task.lease,
        reason: 'It took longer than its lease; the work goes to someone else.',
      });
      this.#roster.standingOf(lease.worker)?.outlasted(size(lease.task), lease.progressed);
      if (lease.progressed) this.#fail(lease, 'its tasks took longer than their leases', now);
      else this.#fail(lease, 'nothing was heard of its task', now, this.#config.setAside.failures);
    }
    for (const worker of this.#roster.all()) {
      if (worker.standing.setAsideUntil === null) continue;
      worker.standing.refresh(now);
      if (worker.standing.setAsideUntil === null) worker.told = '';
    }
    if (this.#gatherUntil !== null && this.#gatherUntil <= now) this.#gatherUntil = null;
  }

  #taskFailed(event: Extract<CoordinatorEvent, { type: 'task-failed' }>, now: number): void {
    const lease = this.#leases.heldBy(event.worker, event.lease);
    const worker = this.#roster.get(event.worker);
    if (!lease || lease.takenInAt !== null || !worker) return;
    switch (event.reason) {
      case 'out-of-memory':
      case 'shader-compilation':
        this.#passTooLarge(lease, worker, event.message, now);
        return;
      case 'cancelled':
        this.#requeue(lease);
        this.#fail(lease, event.message, now, lightFailure);
        return;
      case 'device-lost':
        // It can do nothing until it has connected afresh (or says that it is ready).
        worker.pausedReason = 'its device was lost, and it starts again';
        this.#requeue(lease);
        this.#fail(lease, event.message, now);
        return;
      case 'gpu-error':
      case 'non-finite':
      case 'download':
      case 'bad-data':
      case 'internal':
        this.#requeue(lease);
        this.#fail(lease, event.message, now);
        return;
    }
  }

  /** Half as much at one time, and the same samples again to the same worker, which has their data already. */
  #passTooLarge(lease: LiveLease, worker: WorkerState, message: string, now: number): void {
    const { kind, samples, passSize } = lease.task;
    if (passSize > 1) {
      worker.passSize = Math.floor(passSize / 2);
      worker.standing.failures++;
      if (worker.able && !this.#paused) {
        this.#end(lease);
        this.#lease({ worker, kind, samples }, now);
      } else {
        this.#requeue(lease);
      }
      return;
    }
    this.#requeue(lease);
    worker.standing.failures++;
    worker.standing.setAside({ kind, reason: message }, now, this.#config);
    this.#tellSetAside(worker, now);
  }

  #offered(worker: string, number: number, now: number): void {
    const lease = this.#leases.heldBy(worker, number);
    if (lease && lease.takenInAt === null) {
      lease.takenInAt = now;
      this.#commands.push({ type: 'accept-contribution', worker, lease: number, task: lease.task });
      return;
    }
    const duplicate = lease !== undefined || this.#leases.wasCounted(number);
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
    if (!lease || lease.takenInAt === null) return;
    this.#end(lease);
    this.#leases.endCounted(number);
    this.#step?.accept(lease.task);
    this.#roster.standingOf(lease.worker)?.succeed(lease.task.kind);
    const worker = this.#roster.get(lease.worker);
    if (!worker) return;
    worker.acceptedSamples += size(lease.task);
    worker.acceptedContributions++;
    if (timings.cold || lease.task.kind === 'evaluate') return;
    // What the worker does not account for (waiting, overhead) is part of its round too, and cannot be talked away.
    const elapsed = lease.takenInAt - lease.leasedAt - timings.computeMilliseconds;
    worker.speed.observe(
      size(lease.task),
      timings.computeMilliseconds,
      Math.max(timings.downloadMilliseconds + timings.uploadMilliseconds, elapsed),
    );
  }

  #refused(number: number, message: string, now: number): void {
    const lease = this.#leases.get(number);
    if (!lease) return;
    this.#requeue(lease);
    if (this.#step) this.#step.refused++;
    const worker = this.#roster.get(lease.worker);
    if (worker) worker.refusedContributions++;
    this.#fail(lease, message, now);
  }

  /** Says what has become complete. */
  #settle(): void {
    const step = this.#step;
    if (this.#phase !== 'stepping' || !step) return;
    if (step.takeEvaluationComplete()) {
      this.#commands.push({ type: 'evaluation-complete', version: step.version });
    }
    if (!step.complete) return;
    const last = step.version >= this.#config.maxSteps;
    this.#phase = last ? 'complete' : 'committing';
    this.#commands.push({ type: last ? 'run-complete' : 'commit-step', version: step.version });
  }

  #distribute(now: number): void {
    if (this.#paused && this.#phase !== 'complete') {
      this.#tellIdle('run-paused', 'The run is paused; work goes on when it is resumed.');
      return;
    }
    const step = this.#step;
    if (this.#phase !== 'stepping' || !step || this.#gatherUntil !== null) return;
    const able = this.#roster.able();
    if (!step.planned && step.due.train > 0 && able.length > 0) {
      step.planned = true;
      for (const worker of this.#roster.all()) worker.microBatch = null;
      for (const share of planShares(step, able, this.#policy, this.#config)) this.#lease(share, now);
    }
    for (const kind of ['train', 'evaluate'] as const) {
      for (const share of poolShares(step, kind, able, this.#config)) this.#lease(share, now);
    }
    this.#tellIdle('waiting-for-step', 'Waiting for the others to complete this step.');
  }

  #lease({ worker, kind, samples }: Share, now: number): void {
    const count = samples.end - samples.start;
    const bounds = this.#config.lease;
    const task = {
      kind,
      version: this.#step?.version ?? 0,
      samples,
      passSize: Math.min(worker.passSize, count),
      leaseMilliseconds: worker.leaseMilliseconds(count, bounds),
    };
    const longest = Math.min(bounds.maximumMilliseconds, longestRenewal * task.leaseMilliseconds);
    const leased = this.#leases.open(worker.id, task, longest, now);
    worker.lease = leased.lease;
    worker.told = '';
    this.#commands.push({ type: 'lease', worker: worker.id, task: leased });
  }

  #end(lease: LiveLease): void {
    this.#leases.end(lease.task.lease);
    const worker = this.#roster.get(lease.worker);
    if (worker?.lease === lease.task.lease) worker.lease = null;
  }

  #requeue(lease: LiveLease): void {
    this.#end(lease);
    this.#step?.putBack(lease.task);
  }

  #fail(lease: LiveLease, reason: string, now: number, weight = 1): void {
    const failure = { kind: lease.task.kind, reason, weight };
    const setAside = this.#roster.standingOf(lease.worker)?.fail(failure, now, this.#config);
    const worker = this.#roster.get(lease.worker);
    if (setAside && worker) this.#tellSetAside(worker, now);
  }

  #tellIdle(code: 'waiting-for-step' | 'run-paused', message: string): void {
    for (const worker of this.#roster.able()) {
      if (worker.lease !== null) continue;
      if (code === 'waiting-for-step' && worker.microBatch === 0) {
        const why = 'This step is small enough for the faster workers; you may be needed in the next.';
        this.#tell(worker, 'no-share', why);
      } else {
        this.#tell(worker, code, message);
      }
    }
  }

  #tellSetAside(worker: WorkerState, now: number): void {
    const minutes = Math.ceil(((worker.standing.setAsideUntil ?? now) - now) / 60_000);
    this.#tell(
      worker,
      'set-aside',
      `Set aside for ${minutes} min: ${worker.standing.setAsideReason}. It is tried again after that.`,
    );
  }

  #tell(
    worker: WorkerState,
    code: Extract<CoordinatorCommand, { type: 'notify' }>['code'],
    message: string,
  ): void {
    if (worker.told === message) return;
    worker.told = message;
    this.#commands.push({ type: 'notify', worker: worker.id, code, message });
  }
}

function size(task: LeasedTask): number {
  return task.samples.end - task.samples.start;
}
