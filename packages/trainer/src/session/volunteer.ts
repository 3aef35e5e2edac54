/**
 * A volunteer's session: an engine, a connection, and the tasks between them. The same in a tab and in Node; what
 * differs comes through the hooks.
 */
import {
  cancelSchema,
  helloReplySchema,
  noticeSchema,
  protocolVersion,
  publicRunSchema,
  type FailureReason,
  type HelloReply,
  type DeviceReport,
  type SelfTestReport,
  type ServerToWorker,
  type WorkerToServer,
} from '@tabweave/shared';
import { EngineError, type Engine } from '../engine/engine.ts';
import { reconnectBackoff, type Backoff } from './backoff.ts';
import { readTask } from './compute/check-task.ts';
import { checkShare } from './compute/duty-cycle.ts';
import { Connection, type Loss } from './connection/connection.ts';
import { ConnectionLost, type Link } from './connection/link.ts';
import { TaskInputs } from './download/task-inputs.ts';
import { Refused, TaskDropped, TaskFailure, messageOf, toReport } from './failure.ts';
import { JobQueue } from './job-queue.ts';
import { SessionState } from './session-state.ts';
import { TaskRunner, type Job } from './task-runner.ts';
import type { VolunteerControls, VolunteerOptions, VolunteerState } from './volunteer-state.ts';

export interface VolunteerIdentity {
  workerId: string;
  secret: string;
}

/** What a session needs of its host. */
export interface VolunteerHooks {
  createEngine(backend: VolunteerOptions['backend']): Promise<Engine>;
  selfTest(engine: Engine): Promise<SelfTestReport>;
  /** Called with each change; the object is not changed afterwards. */
  onState(state: VolunteerState): void;
  /** To be kept, and given as `options.identity` to the next session. */
  onIdentity(identity: VolunteerIdentity): void;
  fetch?: typeof fetch;
  /** Waits after failed connections and downloads, where the usual ones do not fit. */
  backoff?: { reconnect?: Backoff; download?: Backoff };
}

/** Begins at once. @throws RangeError when the duty cycle is not in (0, 1]. */
export function startVolunteer(options: VolunteerOptions, hooks: VolunteerHooks): VolunteerControls {
  const volunteer = new Volunteer(options, hooks);
  volunteer.start();
  return volunteer;
}

const helloMilliseconds = 15_000;
const shortMilliseconds = 10_000;

class Volunteer implements VolunteerControls {
  readonly #options: VolunteerOptions;
  readonly #hooks: VolunteerHooks;
  readonly #state: SessionState;
  readonly #connection: Connection;
  readonly #jobs: JobQueue;
  #dutyCycle: number;
  #identity: VolunteerIdentity | null;
  #engine: Engine | null = null;
  #runner: TaskRunner | null = null;
  #selfTest: SelfTestReport | null = null;
  #profile: DeviceReport['profile'] = null;
  /** The link on which the server knows this worker. */
  #link: Link | null = null;
  #paused: string | null = null;
  #finishing = false;
  #replaced = false;
  #preparing: Promise<void> | null = null;
  #ending: Promise<void> | null = null;

  constructor(options: VolunteerOptions, hooks: VolunteerHooks) {
    this.#options = options;
    this.#hooks = hooks;
    this.#dutyCycle = checkShare(options.dutyCycle);
    this.#identity = options.identity;
    this.#state = new SessionState((state) => hooks.onState(state));
    this.#jobs = new JobQueue(
      (job) => this.#work(job),
      () => this.#idle(),
    );
    this.#connection = new Connection(
      options.url,
      {
        up: (link) => void this.#greet(link),
        down: (loss, retryAt) => this.#down(loss, retryAt),
        message: (event, payload, link) => this.#message(event, payload, link),
      },
      hooks.backoff?.reconnect ?? reconnectBackoff,
    );
  }

  start(): void {
    this.#state.note('Started.');
    this.#preparing = this.#prepare();
  }

  pause(reason: string): void {
    if (this.#ending || this.#finishing) return;
    this.#paused = reason;
    this.#state.override({ phase: 'paused', message: reason });
    this.#state.note(`Paused: ${reason}`);
    // Before the task is given back, so that the server does not lease the next one at once.
    this.#sendStatus();
    this.#jobs.dropUnfinished(new TaskFailure('cancelled', `The volunteer has paused: ${reason}`));
  }

  resume(): void {
    if (this.#ending || this.#paused === null) return;
    this.#paused = null;
    this.#state.override(null);
    this.#state.note('Resumed.');
    if (this.#link) {
      this.#sendStatus();
      if (!this.#jobs.busy) this.#idle();
    } else if (this.#runner) {
      this.#state.set({ phase: 'connecting', message: 'Connecting to the server.' });
      this.#connection.retryNow();
    }
  }

  async finish(): Promise<void> {
    if (!this.#jobs.busy) return this.stop();
    if (!this.#finishing && !this.#ending) {
      this.#finishing = true;
      this.#state.override({ phase: 'finishing', message: 'Completing the present task, then stopping.' });
      this.#state.note('Finishing.');
      this.#sendStatus();
      this.#jobs.dropWaiting(new TaskFailure('cancelled', 'The volunteer is finishing.'));
    }
    await this.#jobs.settled();
    await this.#end('stopped', 'Stopped, as asked, after the present task.');
  }

  async stop(): Promise<void> {
    await this.#end('stopped', 'Stopped.');
  }

  setDutyCycle(share: number): void {
    this.#dutyCycle = checkShare(share);
  }

  /** Engine and self-test; then connects. */
  async #prepare(): Promise<void> {
    try {
      const engine = await this.#hooks.createEngine(this.#options.backend);
      this.#engine = engine;
      this.#state.set({ device: engine.report, message: 'Testing whether this device computes correctly.' });
      const report = await this.#hooks.selfTest(engine);
      this.#selfTest = report;
      this.#state.set({ selfTest: report });
      if (report.passed && !this.#ending) {
        this.#profile = await engine.measure();
        this.#state.set({ device: { ...engine.report, profile: this.#profile } });
      }
      if (this.#ending) return;
      if (!report.passed) {
        void this.#end('unsuitable', unsuitable(report));
        return;
      }
      this.#runner = this.#createRunner(engine);
      void engine.lost.then((error) => this.#deviceLost(error));
    } catch (error) {
      void this.#end('failed', `This device could not be made ready: ${messageOf(error)}`);
      return;
    }
    this.#state.set({ phase: 'connecting', message: 'Connecting to the server.' });
    this.#connection.open();
  }

  #createRunner(engine: Engine): TaskRunner {
    const inputs = new TaskInputs({
      base: this.#options.url,
      fetch: this.#hooks.fetch ?? ((...parameters) => globalThis.fetch(...parameters)),
      onBytes: (bytes) => this.#state.count('bytesDown', bytes),
      onRetry: (reason) => this.#state.note(reason),
      ...(this.#hooks.backoff?.download ? { backoff: this.#hooks.backoff.download } : {}),
    });
    return new TaskRunner({
      engine,
      inputs,
      state: this.#state,
      dutyCycle: () => this.#dutyCycle,
      onUpload: (job) => this.#jobs.uploading(job),
    });
  }

  async #greet(link: Link): Promise<void> {
    const device = this.#engine?.report;
    if (!device || !this.#selfTest) return;
    this.#state.set({
      phase: 'connecting',
      message: 'Introducing this device to the server.',
      retryAt: null,
    });
    try {
      const hello: Parameters<WorkerToServer['hello']>[0] = {
        protocol: protocolVersion,
        ...(this.#identity ?? {}),
        runId: this.#options.runId,
        name: this.#options.name.trim().slice(0, 40),
        device: { ...device, profile: this.#profile },
        selfTest: this.#selfTest,
      };
      const reply = helloReplySchema.parse(await link.ask('hello', hello, helloMilliseconds));
      const { workerId, secret, ...totals } = reply;
      this.#welcome(link, { workerId, secret }, totals);
    } catch (error) {
      this.#refusedHello(error);
    }
  }

  #welcome(link: Link, identity: VolunteerIdentity, totals: Omit<HelloReply, keyof VolunteerIdentity>): void {
    this.#connection.settled();
    this.#link = link;
    this.#state.set({ problem: null, ...totals }, 'Connected.');
    if (this.#identity?.workerId !== identity.workerId || this.#identity.secret !== identity.secret) {
      this.#identity = identity;
      this.#hooks.onIdentity(identity);
    }
    if (this.#paused !== null) this.#sendStatus();
    // A first task may have overtaken this.
    if (!this.#jobs.busy) this.#idle();
  }

  #refusedHello(error: unknown): void {
    if (error instanceof ConnectionLost) return;
    if (error instanceof Refused) {
      const { problem } = error;
      this.#state.set({ problem });
      if (problem.code === 'PROTOCOL_MISMATCH') {
        const remedy = this.#engine?.report.environment === 'node' ? 'update this worker' : 'reload the page';
        void this.#end('failed', `This volunteer and the server are of different versions: ${remedy}.`);
        return;
      }
    }
    this.#connection.retryLater(messageOf(error));
  }

  #down(loss: Loss, retryAt: number): void {
    this.#link = null;
    this.#jobs.drop(new ConnectionLost());
    if (this.#replaced) {
      void this.#end('stopped', this.#state.current.notice?.message ?? 'Replaced by another connection.');
      return;
    }
    const message = lossMessage(loss);
    this.#state.set({ phase: 'connecting', message, retryAt, task: null }, message);
  }

  #message(event: keyof ServerToWorker, payload: unknown, link: Link): void {
    switch (event) {
      case 'task':
        this.#task(payload, link);
        break;
      case 'task:cancel': {
        const cancel = cancelSchema.safeParse(payload);
        if (!cancel.success) break;
        this.#state.note(`The server cancelled the task: ${cancel.data.reason}`);
        this.#jobs.cancel(cancel.data.lease, new TaskDropped(cancel.data.reason));
        break;
      }
      case 'notice': {
        const notice = noticeSchema.safeParse(payload);
        if (!notice.success) break;
        if (notice.data.code === 'replaced') this.#replaced = true;
        this.#state.set({ notice: notice.data });
        if (!this.#jobs.busy && this.#link) this.#idle();
        break;
      }
      case 'run': {
        const run = publicRunSchema.nullable().safeParse(payload);
        if (run.success) this.#state.set({ run: run.data });
        break;
      }
    }
  }

  #task(payload: unknown, link: Link): void {
    const read = readTask(payload);
    if (!('task' in read)) {
      this.#state.note(read.message);
      if (read.lease !== null)
        void this.#report(link, read.lease, { reason: 'bad-data', message: read.message });
      return;
    }
    const { task } = read;
    if (this.#paused !== null || this.#finishing) {
      const message = this.#finishing ? 'The volunteer is finishing.' : 'The volunteer has paused.';
      void this.#report(link, task.lease, { reason: 'cancelled', message });
      return;
    }
    if (!this.#jobs.add(task, link)) {
      const message = 'This worker has more tasks waiting than it takes.';
      void this.#report(link, task.lease, { reason: 'internal', message });
    }
  }

  async #work(job: Job): Promise<void> {
    const { task } = job;
    try {
      if (!this.#runner) throw new TaskDropped('The session has ended.');
      const receipt = await this.#runner.run(job);
      this.#state.set(
        {
          acceptedSamples: receipt.totalSamples,
          acceptedContributions: receipt.totalContributions,
          problem: null,
        },
        `Version ${task.version}: ${receipt.acceptedSamples} samples counted.`,
      );
    } catch (error) {
      await this.#failed(job, job.signal.aborted ? job.signal.reason : error);
    }
  }

  async #failed(job: Job, error: unknown): Promise<void> {
    const { version, lease } = job.task;
    this.#state.note(`Version ${version}: ${messageOf(error)}`);
    if (error instanceof Refused) {
      const { problem } = error;
      const { refusedContributions } = this.#state.current;
      const refused =
        problem.code === 'INVALID_CONTRIBUTION' ? refusedContributions + 1 : refusedContributions;
      this.#state.set({ problem, refusedContributions: refused });
    }
    const report = toReport(error);
    if (report) await this.#report(job.link, lease, report);
    if (error instanceof EngineError && (error.reason === 'device-lost' || error.reason === 'gpu-error')) {
      this.#deviceFailed(error);
    }
  }

  #deviceFailed(error: EngineError): void {
    this.#state.set({ problem: null });
    void this.#end('failed', `The device failed: ${error.message}`);
  }

  #deviceLost(error: EngineError): void {
    this.#jobs.drop(error);
    // The server is told of a task that this ends before the connection goes.
    void this.#jobs.settled().then(() => this.#deviceFailed(error));
  }

  async #report(
    link: Link,
    lease: number,
    failure: { reason: FailureReason; message: string },
  ): Promise<void> {
    try {
      await link.ask('task:failed', { lease, ...failure }, shortMilliseconds);
    } catch (error) {
      // The server then learns it by the end of the lease.
      this.#state.note(`Could not report a failed task: ${messageOf(error)}`);
    }
  }

  #idle(): void {
    if (this.#ending || this.#finishing) return;
    const message = this.#state.current.notice?.message ?? 'Waiting for work.';
    if (this.#link) this.#state.set({ phase: 'waiting', message, task: null });
  }

  #sendStatus(): void {
    const state = this.#finishing ? 'finishing' : this.#paused === null ? 'ready' : 'paused';
    const status = { state, reason: (this.#paused ?? '').slice(0, 300) } as const;
    this.#link
      ?.ask('status', status, shortMilliseconds)
      .catch((error: unknown) =>
        this.#state.note(`Could not tell the server "${state}": ${messageOf(error)}`),
      );
  }

  #end(phase: 'unsuitable' | 'stopped' | 'failed', message: string): Promise<void> {
    this.#ending ??= this.#tearDown(phase, message);
    return this.#ending;
  }

  async #tearDown(phase: 'unsuitable' | 'stopped' | 'failed', message: string): Promise<void> {
    this.#state.end(phase, message);
    this.#connection.close();
    this.#link = null;
    this.#jobs.drop(new TaskDropped(message));
    // The engine is not taken away from under what still uses it.
    await this.#preparing;
    await this.#jobs.settled();
    this.#engine?.dispose();
  }
}

function unsuitable(report: SelfTestReport): string {
  const failed = report.checks.filter((check) => !check.passed);
  const why = failed.map(({ name, detail }) => (detail === '' ? name : `${name}: ${detail}`)).join('; ');
  return `This device computes wrong results, so it cannot take part (${why}). Another browser or a newer graphics driver may help.`;
}

function lossMessage({ kind, detail }: Loss): string {
  switch (kind) {
    case 'unreachable':
      return `The server cannot be reached (${detail}).`;
    case 'broken':
      return `The connection to the server was lost (${detail}).`;
    case 'ended':
      return 'The server ended the connection.';
    case 'left':
      return `The server does not take this worker now: ${detail}`;
  }
}
