/** Builds the page, when a source is newer than the last build. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inRoot, pinnedNode } from './paths.mjs';
import { StepError, run } from './process.mjs';

const web = inRoot('apps', 'web');
const built = join(web, 'dist', 'index.html');

/** What the bundle is made of. Tests are left out: they never enter it. */
const sources = [
  join(web, 'src'),
  join(web, 'public'),
  join(web, 'index.html'),
  join(web, 'vite.config.ts'),
  join(web, 'package.json'),
  inRoot('packages', 'shared', 'src'),
  inRoot('packages', 'kernels', 'src'),
  inRoot('packages', 'trainer', 'src'),
  inRoot('pnpm-lock.yaml'),
];

/**
 * @param {{ force?: boolean, quiet?: boolean }} [options]
 * @throws StepError with Vite's output.
 */
export async function buildWeb({ force = false, quiet = true } = {}) {
  if (!force && !isStale(built, sources)) return;
  if (quiet) console.log('Building the web page ...');
  const started = Date.now();
  const vite = join(web, 'node_modules', 'vite', 'bin', 'vite.js');
  const { code, output } = await run(pinnedNode, [vite, 'build'], { cwd: web, quiet });
  if (code !== 0)
    throw new StepError(`${output}\nThe web page could not be built (the output is above).`, code);
  if (quiet) console.log(`Built in ${Math.round((Date.now() - started) / 1000)} s.`);
}

/**
 * Whether anything under `inputs` changed after `output` was written. Folders count with their own time, so
 * that a deleted file is noticed.
 * @param {string} output
 * @param {string[]} inputs
 */
export function isStale(output, inputs) {
  if (!existsSync(output)) return true;
  const builtAt = statSync(output).mtimeMs;
  return inputs.some((input) => existsSync(input) && newest(input) > builtAt);
}

/**
 * @param {string} path
 * @returns {number} milliseconds
 */
function newest(path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return /\.test\.tsx?$/.test(path) ? 0 : stat.mtimeMs;
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stat.mtimeMs);
}
