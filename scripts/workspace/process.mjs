/** Child processes: run to the end, quietly or seen, and stand in for one. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** A step that failed, with words for the person at the terminal; no stack is wanted. */
export class StepError extends Error {
  /**
   * @param {string} message
   * @param {number} [exitCode]
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, quiet?: boolean, shell?: boolean }} [options] `quiet` keeps
 * the output back and returns it.
 * @returns {Promise<{ code: number, output: string }>} 127 when the command cannot be started.
 */
export function run(command, args, { cwd, env, quiet = false, shell = false } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: env ?? process.env,
      shell,
      stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => resolve({ code: 127, output: `${output}${error.message}\n` }));
    child.on('close', (code, signal) => resolve({ code: code ?? signalCode(signal), output }));
  });
}

/**
 * Runs a command in place of this process: same terminal, signals passed on, same exit code.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 */
export function become(command, args, { cwd, env } = {}) {
  const child = spawn(command, args, { cwd, env: env ?? process.env, stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(`Could not start ${command}: ${error.message}`);
    process.exit(127);
  });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to the whole foreground group: the child has it already, and a second one
      // would read as impatience.
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    });
  }
  whenNpmDies(() => child.kill('SIGTERM'));
  child.on('exit', (code, signal) => process.exit(code ?? signalCode(signal)));
}

/**
 * npm runs a script in a shell and passes signals on to that shell, which may die of them without a word to us
 * (dash does): a terminated `npm start` would leave the server behind. Outside npm, a parent may die as it likes.
 * @param {() => void} act
 */
function whenNpmDies(act) {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    act();
  }, 500);
  timer.unref();
}

/**
 * The exit code that a shell gives to a death by signal.
 * @param {NodeJS.Signals | null} signal
 */
function signalCode(signal) {
  return 128 + (signal ? (constants.signals[signal] ?? 0) : 0);
}

/**
 * Runs `main`; a StepError ends the process with its words and code.
 * @param {() => Promise<void>} main
 */
export function runMain(main) {
  main().catch((error) => {
    console.error(error instanceof StepError ? `\n${error.message}` : error);
    process.exit(error instanceof StepError ? error.exitCode : 1);
  });
}
