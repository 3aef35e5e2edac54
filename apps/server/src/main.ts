import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { banner } from './banner.ts';
import { readConfig, usage } from './config.ts';
import { startServer } from './server.ts';

const pages = resolve(dirname(fileURLToPath(import.meta.url)), '../../web/dist');

/** A second signal after this long ends the server at once. */
const impatientMilliseconds = 1000;

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env);
  if (config === 'help') {
    process.stdout.write(usage);
    return;
  }
  const server = await startServer(config, pages);
  process.stdout.write(banner(server));
  let closingSince: number | null = null;
  const close = (signal: NodeJS.Signals): void => {
    if (closingSince !== null) {
      // The same request often comes twice: a terminal signals the whole group, and npm start forwards it.
      if (performance.now() - closingSince > impatientMilliseconds) process.exit(1);
      return;
    }
    closingSince = performance.now();
    process.stdout.write(`\n${signal}: finishing what is under way and saving…\n`);
    server.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`could not close cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', close);
  process.on('SIGTERM', close);
}

main().catch((error: unknown) => {
  const { code, message } = error as NodeJS.ErrnoException;
  const words =
    code === 'EADDRINUSE'
      ? 'The port is in use by another program. Choose another with PORT=8081 npm start.'
      : message;
  process.stderr.write(`Tabweave could not start: ${words}\n`);
  process.exit(1);
});
