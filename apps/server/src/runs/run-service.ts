/** Runs: their rows, their life (draft, running, paused, stopped, finished, failed), their drivers. */
import { EventEmitter } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  ProblemError,
  limits,
  type MetricPoint,
  type ParametersRef,
  type PublicRun,
  type Recipe,
  type Run,
  type Strategy,
  type Worker,
} from '@tabweave/shared';
import type { FastifyBaseLogger } from 'fastify';
import type { DatasetService } from '../datasets/dataset-service.ts';
import type { ModelService } from '../models/model-service.ts';
import { StoreClient } from '../parameters/store-client.ts';
import type { OpenedStore, ParameterVersion } from '../parameters/store.ts';
import type { Database } from '../storage/database.ts';
import { newId } from '../storage/ids.ts';
import type { RunRow } from '../storage/schema.ts';
import {
  checkCapacity,
  checkCompatible,
  memoryForRuns,
  toDefinition,
  type RunDefinition,
} from './definition.ts';
import { RunHistory } from './history.ts';
import { KeyedQueue } from './keyed-queue.ts';
import { RunDriver, storeOptions } from './run-driver.ts';
import { toPublicRun, toRun, type RunFigures } from './views.ts';
import { WorkerHub } from './worker-hub.ts';

export interface RunServiceOptions {
  database: Database;
  datasets: DatasetService;
  models: ModelService;
  folder: string;
  log: FastifyBaseLogger;
  gatherMilliseconds: number;
}

export interface RunInputs {
  name: string;
  description: string;
  modelId: string;
  datasetId: string;
  recipe: Recipe;
  strategy: Strategy;
}

interface RunEvents {
  /** Anything about the run that a viewer might show has changed. */
  changed: [runId: string];
  points: [runId: string, points: MetricPoint[]];
  /** The list of runs or a status has changed. */
  listed: [];
}

/** Points that the present speed is reckoned over. */
const speedWindow = 10;

interface Known {
  definition: RunDefinition;
  row: RunRow;
  driver: RunDriver | null;
  recent: MetricPoint[];
  validationLoss: number | null;
}

export class RunService extends EventEmitter<RunEvents> {
  readonly hub: WorkerHub;
  readonly history: RunHistory;
  readonly #options: RunServiceOptions;
  readonly #runs = new Map<string, Known>();
  /** One change of a run's status at a time. */
  readonly #queue = new KeyedQueue();
  #draining = false;

  constructor(options: RunServiceOptions) {
    super();
    this.#options = options;
    this.history = new RunHistory(options.database);
    this.hub = new WorkerHub({
      drivers: () => this.#openDrivers(),
      describe: (driver) => this.publicRun(driver.definition.id),
      idleReason: (wanted) => this.#idleReason(wanted),
    });
  }

  /** Loads all runs; those that were running when the server ended go on by themselves. */
  async load(): Promise<void> {
    const rows = await this.#options.database.selectFrom('runs').selectAll().orderBy('created_at').execute();
    for (const row of rows) await this.#know(row);
    for (const known of this.#runs.values()) {
      if (known.row.status !== 'running') continue;
      try {
        await this.#open(known);
      } catch (error) {
        await this.#setStatus(known, 'failed', `It could not go on by itself. ${(error as Error).message}`);
      }
    }
  }

  async create(input: RunInputs): Promise<Run> {
    if (this.#runs.size >= limits.runs) {
      throw new ProblemError('TOO_MANY', `There are ${limits.runs} runs already; delete some first.`);
    }
    const model = await this.#options.models.get(input.modelId);
    const dataset = await this.#options.datasets.row(input.datasetId);
    checkCompatible(model.config, dataset, input.recipe, memoryForRuns());
    const row: RunRow = {
      id: newId(),
      name: input.name,
      description: input.description,
      model_id: model.id,
      dataset_id: dataset.id,
      recipe: JSON.stringify(input.recipe),
      strategy: JSON.stringify(input.strategy),
      status: 'draft',
      status_reason: '',
      parameters: null,
      created_at: new Date().toISOString(),
      started_at: null,
      finished_at: null,
    };
    await this.#options.database.insertInto('runs').values(row).execute();
    const known = await this.#know(row);
    this.emit('listed');
    return this.#toRun(known);
  }

  list(): Run[] {
    return [...this.#runs.values()].map((known) => this.#toRun(known)).reverse();
  }

  get(id: string): Run {
    return this.#toRun(this.#find(id));
  }

  /** Runs that volunteers can see: those that are or were under way. */
  publicRuns(): PublicRun[] {
    return [...this.#runs.values()]
      .filter((known) => known.row.status !== 'draft')
      .map((known) => toPublicRun(this.#figures(known)))
      .reverse();
  }

  publicRun(id: string): PublicRun {
    const known = this.#find(id);
    if (known.row.status === 'draft') throw new ProblemError('NOT_FOUND', `There is no run ${id}.`);
    return toPublicRun(this.#figures(known));
  }

  workers(id: string): Worker[] {
    return this.#find(id).driver?.workers() ?? [];
  }

  start(id: string): Promise<Run> {
    return this.#change(id, async (known) => {
      this.#expect(known, ['draft'], 'start');
      await this.#open(known);
      await this.#setStatus(known, 'running', '');
    });
  }

  pause(id: string, reason = 'Paused by an admin.'): Promise<Run> {
    return this.#change(id, async (known) => {
      this.#expect(known, ['running'], 'pause');
      known.driver?.pause();
      await this.#setStatus(known, 'paused', reason);
    });
  }

  resume(id: string): Promise<Run> {
    return this.#change(id, async (known) => {
      this.#expect(known, ['paused', 'failed'], 'resume');
      if (known.driver) known.driver.resume();
      else await this.#open(known);
      await this.#setStatus(known, 'running', '');
      this.hub.assignIdle();
    });
  }

  stop(id: string): Promise<Run> {
    return this.#change(id, async (known) => {
      this.#expect(known, ['running', 'paused', 'draft', 'failed'], 'stop');
      await this.#setStatus(known, 'stopped', 'Stopped by an admin.');
      await this.#close(known, 'the run was stopped');
    });
  }

  async remove(id: string): Promise<void> {
    await this.#change(id, async (known) => {
      this.#expect(known, ['draft', 'stopped', 'finished', 'failed'], 'delete');
      await this.#close(known, 'the run was deleted');
      await this.#options.database.deleteFrom('runs').where('id', '=', id).execute();
      this.#runs.delete(id);
      rmSync(this.#folder(id), { recursive: true, force: true });
    });
    this.emit('listed');
  }

  /** Definition and float32 parameters at the last committed version. @throws ProblemError CONFLICT before there are any. */
  async checkpoint(
    id: string,
  ): Promise<{ definition: RunDefinition; version: number; parameters: Float32Array }> {
    // In the run's queue: a driver that is closing has its last version in no snapshot yet, and the files of a closed
    // run are opened by one thread at a time.
    return this.#inQueue(id, async (known) => {
      if (this.#version(known) === null) throw this.#noParameters(known);
      const { definition, driver } = known;
      if (driver) return { definition, version: driver.version, parameters: await driver.exportParameters() };
      const store = new StoreClient(storeOptions(definition, this.#folder(id)));
      try {
        const opened = await store.open();
        return { definition, version: opened.version, parameters: await store.parameters() };
      } finally {
        await store.close();
      }
    });
  }

  parametersRef(id: string): ParametersRef {
    const known = this.#find(id);
    const version = this.#version(known);
    if (version === null) throw this.#noParameters(known);
    return {
      version: version.version,
      hash: version.blob.hash,
      url: `/parameters/${id}/${version.blob.hash}`,
      bytes: version.blob.bytes,
      encoding: known.definition.strategy.parameterEncoding,
    };
  }

  /** Path of a served parameter file, or null. Both arguments come from outside. */
  parameterFile(id: string, hash: string): string | null {
    if (!this.#runs.has(id) || !/^[0-9a-f]{64}$/.test(hash)) return null;
    const path = join(this.#folder(id), 'parameters', hash);
    return existsSync(path) ? path : null;
  }

  /** Stops leasing, snapshots, closes; the runs go on at the next start. */
  async drain(): Promise<void> {
    this.#draining = true;
    for (const link of this.hub.links()) {
      link.notify({
        code: 'draining',
        message: 'The server is shutting down; this tab reconnects when it is back.',
      });
    }
    const drivers = [...this.#runs.values()].flatMap((known) => known.driver ?? []);
    await Promise.all(drivers.map((driver) => driver.close('the server is shutting down')));
  }

  async #know(row: RunRow): Promise<Known> {
    const model = await this.#options.models.get(row.model_id);
    const dataset = await this.#options.datasets.row(row.dataset_id);
    const known: Known = {
      definition: toDefinition(row, model, dataset),
      row,
      driver: null,
      recent: await this.history.recent(row.id, speedWindow),
      validationLoss: await this.history.lastValidation(row.id),
    };
    this.#runs.set(row.id, known);
    return known;
  }

  async #open(known: Known): Promise<void> {
    checkCapacity(
      this.#openDrivers().map((driver) => driver.definition),
      known.definition,
    );
    const driver = new RunDriver({
      definition: known.definition,
      folder: this.#folder(known.definition.id),
      history: this.history,
      log: this.#options.log,
      gatherMilliseconds: this.#options.gatherMilliseconds,
    });
    const { id } = known.definition;
    driver.on('changed', () => this.emit('changed', id));
    driver.on('committed', (point, parameters) => {
      known.recent = [...known.recent, point].slice(-speedWindow);
      this.#rememberParameters(known, parameters);
      this.emit('points', id, [point]);
      this.emit('changed', id);
      for (const link of driver.links()) link.showRun(this.publicRun(id));
    });
    driver.on('validated', (step, loss) => {
      known.validationLoss = loss;
      void this.history.points(id, step - 1, 1).then((points) => this.emit('points', id, points));
      this.emit('changed', id);
    });
    driver.on('halted', (reason) => {
      void this.#change(id, async () => {
        // Closed in any case, also when its status cannot be written.
        await this.#setStatus(known, 'paused', reason).finally(() => this.#close(known, 'the run is paused'));
      }).catch((error: unknown) => this.#options.log.error(error));
    });
    driver.on('complete', () => {
      void this.#change(id, async () => {
        // First the status: what the workers are told when they are let go depends on it.
        await this.#setStatus(known, 'finished', '').finally(() =>
          this.#close(known, 'the run has finished'),
        );
      }).catch((error: unknown) => this.#options.log.error(error));
    });
    const opened = await driver.open().catch(async (error: unknown) => {
      await driver.close('the run could not be opened').catch(() => undefined);
      throw new ProblemError('INTERNAL', `The run's files cannot be opened: ${(error as Error).message}.`);
    });
    await this.#refuseLoss(known, driver, opened);
    known.driver = driver;
    known.recent = await this.history.recent(id, speedWindow);
    this.#rememberParameters(known, opened);
    this.hub.assignIdle();
  }

  /**
   * Steps that had been shown must not be lost without a word: where the files hold less than the history, the history
   * is cut back to them and an admin decides whether to go on from there.
   * @throws ProblemError CONFLICT saying what was lost.
   */
  async #refuseLoss(known: Known, driver: RunDriver, opened: OpenedStore): Promise<void> {
    const { id } = known.definition;
    const [last] = await this.history.recent(id, 1);
    const shown = Math.max(last?.step ?? 0, this.#version(known)?.version ?? 0);
    if (opened.version >= shown) return;
    await driver.close('steps were lost');
    await this.history.forgetAfter(id, opened.version);
    this.#rememberParameters(known, opened);
    const why = opened.repairs.join('; ') || 'files of the run are missing';
    throw new ProblemError(
      'CONFLICT',
      `Steps ${opened.version + 1} to ${shown} are lost: ${why}. Resume to train them again from step ${opened.version}, or restore the run's folder from a backup first.`,
    );
  }

  async #close(known: Known, reason: string): Promise<void> {
    const { driver } = known;
    if (!driver) return;
    this.#rememberParameters(known, driver.parameters);
    known.driver = null;
    // What is committed is in the log whether or not the last snapshot can be written.
    await driver.close(reason).catch((error: unknown) => this.#options.log.error(error));
    this.#rememberParameters(known, driver.parameters);
    this.hub.release(driver);
    this.emit('changed', known.definition.id);
  }

  #rememberParameters(known: Known, { version, parametersHash, blob }: ParameterVersion): void {
    const remembered: ParameterVersion = { version, parametersHash, blob };
    known.row.parameters = JSON.stringify(remembered);
    this.#options.database
      .updateTable('runs')
      .set({ parameters: known.row.parameters })
      .where('id', '=', known.definition.id)
      .execute()
      .catch((error: unknown) => this.#options.log.error(error));
  }

  async #setStatus(known: Known, status: RunRow['status'], reason: string): Promise<void> {
    const now = new Date().toISOString();
    const ended = status === 'stopped' || status === 'finished';
    const row: RunRow = {
      ...known.row,
      status,
      status_reason: reason,
      started_at: known.row.started_at ?? (status === 'running' ? now : null),
      finished_at: ended ? now : null,
    };
    const { started_at, finished_at } = row;
    await this.#options.database
      .updateTable('runs')
      .set({ status, status_reason: reason, started_at, finished_at })
      .where('id', '=', row.id)
      .execute();
    known.row = { ...row, parameters: known.row.parameters };
    this.emit('changed', known.row.id);
    this.emit('listed');
    if (status === 'running') this.hub.assignIdle();
  }

  #change(id: string, action: (known: Known) => Promise<void>): Promise<Run> {
    return this.#inQueue(id, async (known) => {
      if (this.#draining)
        throw new ProblemError('DRAINING', 'The server is shutting down; try again shortly.');
      await action(known);
      return this.#toRun(known);
    });
  }

  /** After all that has been asked of this run before. */
  #inQueue<T>(id: string, action: (known: Known) => Promise<T>): Promise<T> {
    this.#find(id);
    // Looked up again when its turn has come: it may have been deleted meanwhile.
    return this.#queue.run(id, () => action(this.#find(id)));
  }

  #expect(known: Known, allowed: RunRow['status'][], verb: string): void {
    if (allowed.includes(known.row.status)) return;
    throw new ProblemError(
      'CONFLICT',
      `A run that is ${known.row.status} cannot be told to ${verb}; that works when it is ${allowed.join(' or ')}.`,
    );
  }

  #openDrivers(): RunDriver[] {
    return [...this.#runs.values()].flatMap((known) =>
      known.driver && known.row.status === 'running' ? [known.driver] : [],
    );
  }

  #idleReason(wanted: string | null): ReturnType<ConstructorParameters<typeof WorkerHub>[0]['idleReason']> {
    const known = wanted === null ? undefined : this.#runs.get(wanted);
    if (known?.row.status === 'paused') {
      return { code: 'run-paused', message: 'This run is paused; work goes on when it is resumed.' };
    }
    if (known && known.row.status !== 'draft') {
      return {
        code: 'run-ended',
        message: `This run is ${known.row.status}. Thank you; there is nothing left to do.`,
      };
    }
    return { code: 'no-run', message: 'No run needs workers at the moment; this tab begins when one does.' };
  }

  #version(known: Known): ParameterVersion | null {
    if (known.driver) return known.driver.parameters;
    return known.row.parameters === null ? null : (JSON.parse(known.row.parameters) as ParameterVersion);
  }

  #noParameters(known: Known): ProblemError {
    return new ProblemError(
      'CONFLICT',
      `The run "${known.row.name}" has no parameters yet: it has never been started.`,
    );
  }

  #figures(known: Known): RunFigures {
    return {
      definition: known.definition,
      row: known.row,
      driver: known.driver,
      parameters: this.#version(known),
      recent: known.recent,
      validationLoss: known.validationLoss,
    };
  }

  #toRun(known: Known): Run {
    return toRun(this.#figures(known));
  }

  #find(id: string): Known {
    const known = this.#runs.get(id);
    if (!known) throw new ProblemError('NOT_FOUND', `There is no run ${id}.`);
    return known;
  }

  #folder(id: string): string {
    return join(this.#options.folder, id);
  }
}
