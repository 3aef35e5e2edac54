/** Command line of the headless worker; `options.ts` has its words. */
import { startHeadless, type Headless } from './index.ts';
import { UsageError, parseHeadlessArguments, usage, type HeadlessOptions } from './options.ts';
import { StatusLines } from './status-lines.ts';

const tickMilliseconds = 500;

process.exitCode = await main(process.argv.slice(2));

async function main(args: string[]): Promise<number> {
  let options: Required<HeadlessOptions> | null;
  try {
    options = parseHeadlessArguments(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usage}`);
    return 2;
  }
  if (!options) {
    console.log(usage);
    return 0;
  }
  // Read by the threads when they start.
  if (options.insecure) process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  return work(options);
}

async function work(options: Required<HeadlessOptions>): Promise<number> {
  const lines = Array.from({ length: options.workers }, () => new StatusLines());
  const print = (worker: number, text: string): void =>
    console.log(options.workers > 1 ? `[worker ${worker + 1}] ${text}` : text);
  let asked = false;
  let fleet: Headless | null = null;
  const leave = (atOnce: boolean): void => {
    if (!fleet || (asked && atOnce)) process.exit(asked ? 0 : 130);
    console.log(
      atOnce ? 'Leaving.' : 'Completing the present tasks, then leaving; Ctrl+C again leaves at once.',
    );
    asked = true;
    void (atOnce ? fleet.stop() : fleet.finish());
  };
  process.on('SIGINT', () => leave(asked));
  process.on('SIGTERM', () => leave(true));

  fleet = await startHeadless(options, {
    onState: (worker, state) => {
      for (const line of lines[worker]?.next(state, performance.now()) ?? []) print(worker, line);
    },
    onNote: print,
  });
  const ticking = setInterval(() => {
    fleet?.states.forEach((state, worker) => {
      if (!state) return;
      for (const line of lines[worker]?.next(state, performance.now()) ?? []) print(worker, line);
    });
  }, tickMilliseconds);
  await fleet.over;
  clearInterval(ticking);
  return asked ? 0 : 1;
}
