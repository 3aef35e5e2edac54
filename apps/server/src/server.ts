/** Puts the server together: storage, services, HTTP, sockets; and takes it down again in order. */
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { limits } from '@tabweave/shared';
import type { FastifyInstance } from 'fastify';
import { Server as SocketServer } from 'socket.io';
import type { ServerConfig } from './config.ts';
import { DatasetService } from './datasets/dataset-service.ts';
import { createDemoRun } from './demo/demo-run.ts';
import { addRoutes, createHttp } from './http/app.ts';
import type { Services } from './http/services.ts';
import { ModelService } from './models/model-service.ts';
import { lanAddresses, listensToAll } from './net/addresses.ts';
import { selfSignedCertificate } from './net/certificate.ts';
import { RunService } from './runs/run-service.ts';
import { AdminAuth } from './security/admin-auth.ts';
import { originAllowed } from './security/origin.ts';
import { serveAdmins } from './sockets/admin-namespace.ts';
import { UploadBudget } from './sockets/upload.ts';
import { serveWorkers } from './sockets/worker-namespace.ts';
import { WorkerRegistry } from './sockets/worker-registry.ts';
import { BlobStore } from './storage/blobs.ts';
import { openDatabase } from './storage/database.ts';
import { writeDurable } from './storage/durable.ts';
import { newToken } from './storage/ids.ts';
import { lockFolder } from './storage/lock.ts';
import { openSqlite } from './storage/sqlite.ts';

export const version = '0.1.0';

export interface RunningServer {
  app: FastifyInstance;
  services: Services;
  /** Address for this machine, for example `http://localhost:8080`. */
  localUrl: string;
  /** Addresses for other machines. */
  lanUrls: string[];
  /** File that holds the admin token when none was set; null when it was. */
  adminTokenFile: string | null;
  /** Memory of contributions on their way in. */
  uploads: UploadBudget;
  /** Workers that are remembered. */
  workerRows(): Promise<number>;
  close(): Promise<void>;
}

export async function startServer(config: ServerConfig, pages: string): Promise<RunningServer> {
  mkdirSync(config.dataDir, { recursive: true });
  const unlock = lockFolder(config.dataDir);
  try {
    return await startLocked(config, pages, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

async function startLocked(config: ServerConfig, pages: string, unlock: () => void): Promise<RunningServer> {
  const { dataDir } = config;
  const temporaryFolder = join(dataDir, 'tmp');
  rmSync(temporaryFolder, { recursive: true, force: true });
  mkdirSync(temporaryFolder, { recursive: true });
  const { token, file } = adminToken(config);
  const tls = config.https ? await selfSignedCertificate(dataDir) : null;
  const app = createHttp({ logger: { level: config.logLevel }, tls, trustProxy: config.trustProxy });
  const database = await openDatabase(openSqlite(join(dataDir, 'tabweave.sqlite')));
  const blobs = new BlobStore(join(dataDir, 'blobs'));
  const datasets = new DatasetService(database, blobs);
  const models = new ModelService(database);
  const auth = new AdminAuth(database, token);
  const runs = new RunService({
    database,
    datasets,
    models,
    folder: join(dataDir, 'runs'),
    log: app.log,
    gatherMilliseconds: config.gatherMilliseconds,
  });
  let urls: string[] = [];
  const services: Services = {
    auth,
    blobs,
    datasets,
    models,
    runs,
    temporaryFolder,
    donateUrls: () => urls,
    version,
  };
  await addRoutes(app, services, pages);

  const io = new SocketServer(app.server, {
    serveClient: false,
    maxHttpBufferSize: limits.socketMessageBytes,
    connectTimeout: 5000,
    // Binary frames do not shrink, and compression contexts cost memory for every connection.
    perMessageDeflate: false,
    allowRequest: (request, decide) => {
      const { origin, host } = request.headers;
      const forwarded = config.trustProxy ? request.headers['x-forwarded-host'] : undefined;
      const seenHost = typeof forwarded === 'string' ? forwarded : host;
      const allowed = originAllowed(origin, seenHost, config.allowedOrigins);
      decide(allowed ? null : `Origin ${origin ?? ''} is not allowed here`, allowed);
    },
  });
  const registry = new WorkerRegistry(database);
  await registry.prune();
  // Only the two namespaces below are served.
  io.of('/').use((_socket, next) => next(new Error('Use the namespace /worker or /admin.')));
  const uploads = new UploadBudget();
  serveWorkers(io.of('/worker'), { runs, registry, budget: uploads, log: app.log });
  const stopPushing = serveAdmins(io.of('/admin'), runs, auth, app.log);

  await runs.load();
  if (config.demo) await createDemoRun(database, services);
  await app.listen({ host: config.host, port: config.port });

  const scheme = tls ? 'https' : 'http';
  const { port } = app.server.address() as AddressInfo;
  const open = listensToAll(config.host);
  const localUrl = `${scheme}://${open ? 'localhost' : config.host}:${port}`;
  const lanUrls = open ? lanAddresses().map((address) => `${scheme}://${address}:${port}`) : [];
  urls = config.publicUrl === null ? [localUrl, ...lanUrls] : [config.publicUrl];

  return {
    app,
    services,
    localUrl,
    lanUrls: config.publicUrl === null ? lanUrls : [config.publicUrl],
    adminTokenFile: file,
    uploads,
    workerRows: () => registry.count(),
    close: async () => {
      stopPushing();
      await datasets.close();
      await runs.drain();
      await io.close();
      await app.close();
      await database.destroy();
      unlock();
    },
  };
}

/** The token that was set, else the one kept in the data folder, made at the first start. */
function adminToken(config: ServerConfig): { token: string; file: string | null } {
  if (config.adminToken !== null) return { token: config.adminToken, file: null };
  const file = join(config.dataDir, 'admin-token');
  if (!existsSync(file)) writeDurable(file, [Buffer.from(`${newToken()}\n`)], 0o600);
  return { token: readFileSync(file, 'utf8').trim(), file };
}
