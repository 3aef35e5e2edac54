/** A real server in a process of its own: its own port and data, killable at any moment, restartable on both. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inRoot, pinnedNode } from '../../scripts/workspace/paths.mjs';

const startWithinMilliseconds = 30_000;
const stopWithinMilliseconds = 20_000;

export class ServerProcess {
  readonly port: number;
  readonly adminToken = 'a-token-for-tests-only';
  readonly dataFolder: string;
  /** Everything the server has written, over all its lives. */
  log = '';
  readonly #environment: Record<string, string>;
  #child: ChildProcess | undefined;

  private constructor(port: number, environment: Record<string, string>) {
    this.port = port;
    this.dataFolder = mkdtempSync(join(tmpdir(), 'tabweave-e2e-'));
    this.#environment = environment;
  }

  /** Starts a server on a free port with an empty data folder. */
  static async start(environment: Record<string, string> = {}): Promise<ServerProcess> {
    const server = new ServerProcess(await freePort(), environment);
    await server.restart();
    return server;
  }

  get url(): string {
    return `http://localhost:${this.port}`;
  }

  get pid(): number {
    if (this.#child?.pid === undefined) throw new Error('the server is not running');
    return this.#child.pid;
  }

  /** Starts on the same port and data, and waits until it answers. */
  async restart(): Promise<void> {
    const child = spawn(pinnedNode, [inRoot('apps', 'server', 'src', 'main.ts')], {
      cwd: this.dataFolder,
      env: {
        ...process.env,
        PORT: String(this.port),
        HOST: '127.0.0.1',
        DATA_DIR: join(this.dataFolder, 'data'),
        ADMIN_TOKEN: this.adminToken,
        ...this.#environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const keep = (chunk: Buffer): void => void (this.log += chunk.toString());
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const deadline = Date.now() + startWithinMilliseconds;
    while (!(await this.#answers())) {
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > deadline) {
        await this.kill();
        throw new Error(`The server did not start. Its output:\n${this.log}`);
      }
      await sleep(50);
    }
  }

  async #answers(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/healthz`)).ok;
    } catch {
      return false;
    }
  }

  /** SIGKILL: no handler runs, nothing is flushed. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** SIGTERM, as a service manager stops it. @returns its exit code. */
  async stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMilliseconds);
    await exited;
    clearTimeout(timer);
    return child.exitCode;
  }

  /** Stops it and removes its data. */
  async dispose(): Promise<void> {
    await this.stop();
    rmSync(this.dataFolder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
