/** One worker's connection: hello, tasks out, contributions in. */
import {
  ProblemError,
  contributionBeginSchema,
  contributionEndSchema,
  decodeFrame,
  helloSchema,
  protocolVersion,
  taskFailedSchema,
  taskProgressSchema,
  workerStatusSchema,
  type ContributionBegin,
  type ContributionReceipt,
  type DeviceReport,
  type HelloReply,
  type Notice,
  type PublicRun,
  type ServerToWorker,
  type Task,
  type WorkerToServer,
} from '@tabweave/shared';
import type { FastifyBaseLogger } from 'fastify';
import type { Socket } from 'socket.io';
import { z } from 'zod';
import type { RunDriver } from '../runs/run-driver.ts';
import type { RunService } from '../runs/run-service.ts';
import type { WorkerLink, WorkerTotals } from '../runs/worker-link.ts';
import { SocketGuard } from './guard.ts';
import { Upload, type UploadBudget } from './upload.ts';
import type { WorkerIdentity, WorkerRegistry } from './worker-registry.ts';

export type WorkerSocket = Socket<WorkerToServer, ServerToWorker>;

export interface SessionPorts {
  runs: RunService;
  registry: WorkerRegistry;
  budget: UploadBudget;
  log: FastifyBaseLogger;
}

const binarySchema = z.instanceof(Uint8Array);
/** Progress reports renew a lease at most this often, frames included. */
const renewEveryMilliseconds = 1000;
/** A worker's counts are kept at most this much behind, for a server that is killed. */
const saveEveryMilliseconds = 10_000;

interface OpenUpload {
  begin: ContributionBegin;
  /** Null for a contribution without bytes (evaluation). */
  upload: Upload | null;
  release: () => void;
}

export class WorkerSession {
  readonly #socket: WorkerSocket;
  readonly #ports: SessionPorts;
  #link: SocketLink | undefined;
  #greeting = false;
  #upload: OpenUpload | undefined;
  #renewedAt = 0;
  #savedAt = 0;

  constructor(socket: WorkerSocket, ports: SessionPorts) {
    this.#socket = socket;
    this.#ports = ports;
    const guard = new SocketGuard(socket as unknown as Socket, ports.log);
    guard.on('hello', helloSchema, (hello) => this.#hello(hello));
    guard.on('status', workerStatusSchema, (status) => this.#status(status));
    guard.on('task:progress', taskProgressSchema, (progress) => {
      this.#driver().progress(this.#greeted().id, progress.lease);
      return undefined;
    });
    guard.on('task:failed', taskFailedSchema, (failure) => {
      this.#dropUpload();
      this.#driver().taskFailed(this.#greeted().id, failure);
      return undefined;
    });
    guard.on('contribution:begin', contributionBeginSchema, (begin) => this.#begin(begin));
    guard.on('frame', binarySchema, (bytes) => this.#frame(bytes));
    guard.on('contribution:end', contributionEndSchema, (end) => this.#end(end));
    socket.on('disconnect', () => void this.#disconnected());
  }

  /** Whether the worker has said hello. */
  get greeted(): boolean {
    return this.#link !== undefined;
  }

  async #hello(hello: z.output<typeof helloSchema>): Promise<HelloReply> {
    if (hello.protocol !== protocolVersion) {
      throw new ProblemError(
        'PROTOCOL_MISMATCH',
        `This page speaks protocol ${hello.protocol}, the server ${protocolVersion}. Reload the page.`,
      );
    }
    if (this.#greeting) throw new ProblemError('CONFLICT', 'Hello was said already.');
    this.#greeting = true;
    try {
      return await this.#admit(hello);
    } catch (error) {
      this.#greeting = false;
      throw error;
    }
  }

  async #admit(hello: z.output<typeof helloSchema>): Promise<HelloReply> {
    const failed = hello.selfTest.checks.filter((check) => !check.passed);
    if (!hello.selfTest.passed) {
      throw new ProblemError(
        'FORBIDDEN',
        `This device failed the admission self-test (${failed.map((check) => `${check.name}: ${check.detail}`).join('; ')}), so its results could not be trusted. Another browser or an updated GPU driver may help.`,
      );
    }
    if (hello.runId !== null) this.#ports.runs.publicRun(hello.runId);
    const identity = await this.#ports.registry.admit({
      workerId: hello.workerId,
      secret: hello.secret,
    });
    const reply = { workerId: identity.id, secret: identity.secret, ...identity.totals };
    const link = new SocketLink(this.#socket, identity, hello, (lease) => this.#dropUpload(lease));
    this.#link = link;
    if (!this.#socket.connected) {
      this.#link = undefined;
      return reply;
    }
    // After the acknowledgement, so that a task never overtakes it.
    setImmediate(() => {
      if (this.#socket.connected) this.#ports.runs.hub.add(link);
    });
    return reply;
  }

  #status(status: z.output<typeof workerStatusSchema>): undefined {
    const link = this.#greeted();
    const driver = this.#ports.runs.hub.driverOf(link.id);
    if (status.state === 'ready') {
      link.pausedReason = null;
      driver?.resumeWorker(link.id);
    } else {
      link.pausedReason =
        status.reason || (status.state === 'paused' ? 'paused by the volunteer' : 'finishing');
      driver?.pauseWorker(link.id, link.pausedReason);
    }
    return undefined;
  }

  async #begin(begin: ContributionBegin): Promise<undefined> {
    const { id } = this.#greeted();
    // Checked first: a refused announcement leaves an upload that is under way alone.
    this.#driver().checkAnnouncement(id, begin);
    this.#dropUpload();
    if (begin.bytes === 0) {
      this.#upload = { begin, upload: null, release: () => undefined };
      return undefined;
    }
    const release = await this.#ports.budget.acquire(begin.bytes);
    try {
      // The wait may have been long.
      if (!this.#socket.connected) throw new ProblemError('LEASE_EXPIRED', 'The connection has ended.');
      this.#driver().checkAnnouncement(id, begin);
    } catch (error) {
      release();
      throw error;
    }
    this.#dropUpload();
    this.#upload = { begin, upload: new Upload(begin.lease, begin.bytes), release };
    return undefined;
  }

  #frame(bytes: Uint8Array): undefined {
    const open = this.#upload;
    if (!open?.upload)
      throw new ProblemError('CONFLICT', 'No contribution has been announced for this frame.');
    open.upload.take(decodeFrame(bytes));
    const now = performance.now();
    if (now - this.#renewedAt > renewEveryMilliseconds) {
      this.#renewedAt = now;
      this.#ports.runs.hub.driverOf(this.#greeted().id)?.progress(this.#greeted().id, open.begin.lease);
    }
    return undefined;
  }

  async #end(end: z.output<typeof contributionEndSchema>): Promise<ContributionReceipt> {
    const link = this.#greeted();
    const open = this.#upload;
    if (open?.begin.lease !== end.lease) {
      throw new ProblemError('CONFLICT', `No contribution of lease ${end.lease} is being sent.`);
    }
    this.#upload = undefined;
    try {
      const bytes = open.upload ? open.upload.finish() : null;
      const samples = await this.#driver().contribute(link, open.begin, bytes, end.uploadMilliseconds);
      if (performance.now() - this.#savedAt > saveEveryMilliseconds) void this.#save(link);
      return {
        acceptedSamples: samples,
        totalSamples: link.totals.acceptedSamples,
        totalContributions: link.totals.acceptedContributions,
      };
    } finally {
      open.release();
    }
  }

  /** Gives the memory of an upload back; of any lease, or of this one only. */
  #dropUpload(lease?: number): void {
    if (lease !== undefined && this.#upload?.begin.lease !== lease) return;
    this.#upload?.release();
    this.#upload = undefined;
  }

  async #disconnected(): Promise<void> {
    this.#dropUpload();
    const link = this.#link;
    if (!link) return;
    this.#ports.runs.hub.remove(link);
    await this.#save(link);
  }

  async #save(link: SocketLink): Promise<void> {
    this.#savedAt = performance.now();
    try {
      await this.#ports.registry.save(link.identity, link.name);
    } catch (error) {
      this.#ports.log.error(error);
    }
  }

  #greeted(): SocketLink {
    if (!this.#link) throw new ProblemError('CONFLICT', 'Say hello first.');
    this.#link.lastSeenAt = new Date().toISOString();
    return this.#link;
  }

  #driver(): RunDriver {
    const driver = this.#ports.runs.hub.driverOf(this.#greeted().id);
    if (!driver) throw new ProblemError('LEASE_EXPIRED', 'You are not working for a run at the moment.');
    return driver;
  }
}

class SocketLink implements WorkerLink {
  readonly id: string;
  readonly name: string;
  readonly device: DeviceReport;
  readonly wantedRun: string | null;
  readonly connectedAt = new Date().toISOString();
  readonly totals: WorkerTotals;
  readonly identity: WorkerIdentity;
  readonly #socket: WorkerSocket;
  readonly #onCancel: (lease: number) => void;
  lastSeenAt = this.connectedAt;
  pausedReason: string | null = null;

  constructor(
    socket: WorkerSocket,
    identity: WorkerIdentity,
    hello: z.output<typeof helloSchema>,
    onCancel: (lease: number) => void,
  ) {
    this.#socket = socket;
    this.#onCancel = onCancel;
    this.identity = identity;
    this.id = identity.id;
    this.totals = identity.totals;
    this.name = hello.name;
    this.device = hello.device;
    this.wantedRun = hello.runId;
  }

  sendTask(task: Task): void {
    this.#socket.emit('task', task);
  }

  cancel(lease: number, reason: string): void {
    this.#onCancel(lease);
    this.#socket.emit('task:cancel', { lease, reason });
  }

  notify(notice: Notice): void {
    this.#socket.emit('notice', notice);
  }

  showRun(run: PublicRun | null): void {
    this.#socket.volatile.emit('run', run);
  }

  replace(): void {
    this.notify({
      code: 'replaced',
      message: 'This worker has connected again elsewhere; that connection goes on.',
    });
    this.#socket.disconnect(true);
  }
}
