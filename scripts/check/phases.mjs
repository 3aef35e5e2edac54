/** The phases of `npm test`: a name, what runs, and where its counts come from. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildWeb } from '../workspace/build-web.mjs';
import { install } from '../workspace/install.mjs';
import { inRoot, pinnedNode, root } from '../workspace/paths.mjs';
import { StepError, run } from '../workspace/process.mjs';
import { findOrInstallChromium, playwrightCli, softwareGpu } from './chromium.mjs';
import { playwrightCounts, vitestCounts } from './counts.mjs';
import { findOrFetchLavapipe, lavapipeEnvironment } from './lavapipe.mjs';

/**
 * @typedef {{ passed: number, failed: number }} Counts
 * @typedef {{ skipped: string }} Skipped Why a phase does nothing here.
 * @typedef {{ name: string, groups: string[], run: () => Promise<Counts | Skipped | void> }} Phase
 */

const results = inRoot('test-results');
const binary = (/** @type {string} */ name, /** @type {string} */ file) => inRoot('node_modules', name, file);

/**
 * Runs a tool of node_modules on the pinned Node.
 * @param {string} script
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 * @throws StepError when it fails; its own output is on the terminal.
 */
async function tool(script, args, env = {}) {
  const { code } = await run(pinnedNode, [script, ...args], { cwd: root, env: { ...process.env, ...env } });
  if (code !== 0) throw new StepError(`exit code ${code}`, code);
}

/** Compiles every kernel; runs nothing. */
const compileTest = 'packages/kernels/src/kernel/compile.test.ts';

/** @type {string | undefined} */
let chromium;

/** @type {Phase[]} */
export const phases = [
  { name: 'install', groups: [], run: install },
  {
    name: 'format',
    groups: ['lint'],
    run: () => tool(binary('@biomejs/biome', 'bin/biome'), ['format', '.']),
  },
  {
    name: 'lint',
    groups: ['lint'],
    run: () => tool(binary('eslint', 'bin/eslint.js'), ['.', '--max-warnings', '0']),
  },
  { name: 'types', groups: ['types'], run: typecheck },
  { name: 'compile', groups: ['unit', 'kernels'], run: () => vitest('compile', [compileTest]) },
  {
    // Before the unit tests: the kernels run on the software GPU that comes with Chromium.
    name: 'browser',
    groups: ['unit', 'kernels', 'e2e'],
    run: async () => {
      chromium = await findOrInstallChromium();
      console.log(`Chromium: ${chromium}`);
    },
  },
  {
    name: 'unit',
    groups: ['unit'],
    run: () => vitest('unit', ['--exclude', compileTest], softwareGpu(chromium)),
  },
  { name: 'lavapipe', groups: ['kernels'], run: lavapipeTests },
  {
    name: 'chromium',
    groups: ['kernels'],
    run: () => vitest('chromium', ['-c', 'vitest.chromium.config.ts'], { TABWEAVE_CHROMIUM: chromium }),
  },
  { name: 'build', groups: ['e2e'], run: () => buildWeb({ force: true, quiet: true }) },
  { name: 'e2e', groups: ['e2e'], run: browserTests },
];

/** Every tsconfig of the workspace, two at a time. */
async function typecheck() {
  const folders = [
    '.',
    'e2e',
    ...['packages', 'apps'].flatMap((group) => readdirSync(inRoot(group)).map((name) => join(group, name))),
  ];
  const queue = folders.flatMap((folder) =>
    readdirSync(inRoot(folder))
      .filter((name) => /^tsconfig(\.test)?\.json$/.test(name))
      .map((name) => join(folder, name)),
  );
  /** @type {string[]} */
  const failed = [];
  const drain = async () => {
    for (let project = queue.shift(); project !== undefined; project = queue.shift()) {
      const args = [binary('typescript', 'bin/tsc'), '-p', project, '--pretty', 'false'];
      const { code, output } = await run(pinnedNode, args, { cwd: root, quiet: true });
      console.log(`  ${code === 0 ? 'ok    ' : 'FAILED'} ${project}`);
      if (code === 0) continue;
      failed.push(project);
      process.stdout.write(output);
    }
  };
  await Promise.all([drain(), drain()]);
  if (failed.length > 0) throw new StepError(`type errors in ${failed.join(', ')}`);
}

/**
 * @param {string} name of the report
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} [env]
 */
function vitest(name, args, env) {
  const report = freshReport(`vitest-${name}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  return counted(report, vitestCounts, () =>
    tool(binary('vitest', 'vitest.mjs'), ['run', ...reporters, ...args], env),
  );
}

async function lavapipeTests() {
  const driver = await findOrFetchLavapipe();
  if ('reason' in driver) return { skipped: driver.reason };
  const env = { ...softwareGpu(chromium), ...lavapipeEnvironment(driver) };
  return vitest('lavapipe', ['-c', 'vitest.lavapipe.config.ts'], env);
}

function browserTests() {
  const report = freshReport('playwright.json');
  return counted(report, playwrightCounts, () =>
    tool(playwrightCli(), ['test', '-c', inRoot('e2e', 'playwright.config.ts'), '--reporter=list,json'], {
      TABWEAVE_CHROMIUM: chromium,
      PLAYWRIGHT_JSON_OUTPUT_NAME: report,
    }),
  );
}

/** @param {string} name */
function freshReport(name) {
  const report = join(results, name);
  mkdirSync(dirname(report), { recursive: true });
  rmSync(report, { force: true });
  return report;
}

/**
 * Runs a test runner and reads its report, also when tests failed: those failures must be counted.
 * @param {string} report
 * @param {(report: any) => Counts} count
 * @param {() => Promise<void>} runTests
 * @returns {Promise<Counts>}
 */
async function counted(report, count, runTests) {
  /** @type {unknown} */
  let failure;
  try {
    await runTests();
  } catch (error) {
    failure = error;
  }
  const counts = existsSync(report)
    ? count(JSON.parse(readFileSync(report, 'utf8')))
    : { passed: 0, failed: 0 };
  if (failure) throw Object.assign(/** @type {Error} */ (failure), { counts });
  if (counts.passed + counts.failed === 0) throw new StepError('no test was run');
  return counts;
}
