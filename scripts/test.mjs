/**
 * `npm test`: every check of the project, phase by phase; stops at the first phase that fails. The last line is
 * `N passed, N failed`, over all tests. `npm test -- --only unit|kernels|lint|types|e2e` runs a part.
 */
import { parseArgs } from 'node:util';
import { phases } from './check/phases.mjs';
import { StepError, runMain } from './workspace/process.mjs';

runMain(async () => {
  const only = readOnly();
  const chosen = phases.filter(
    (phase) => only === undefined || phase.groups.length === 0 || phase.groups.includes(only),
  );
  const total = { passed: 0, failed: 0 };
  /** @type {string[]} */
  const summary = [];
  let exitCode = 0;
  for (const phase of chosen) {
    console.log(`\n=== ${phase.name} ===`);
    const started = Date.now();
    /** @type {import('./check/phases.mjs').Counts | undefined} */
    let counts;
    /** @type {string | undefined} */
    let skipped;
    let outcome = 'ok';
    try {
      const result = (await phase.run()) ?? undefined;
      if (result && 'skipped' in result) skipped = result.skipped;
      else counts = result;
    } catch (error) {
      counts = /** @type {{ counts?: import('./check/phases.mjs').Counts }} */ (error).counts;
      outcome = 'FAILED';
      exitCode = 1;
      console.error(error instanceof StepError ? error.message : error);
    }
    if (skipped !== undefined) {
      summary.push(`${phase.name}: skipped, ${skipped}`);
      continue;
    }
    total.passed += counts?.passed ?? 0;
    total.failed += counts?.failed ?? 0;
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const tests = counts ? `  ${counts.passed} passed, ${counts.failed} failed` : '';
    summary.push(`${phase.name.padEnd(8)} ${outcome.padEnd(6)} ${seconds.padStart(7)} s${tests}`);
    if (exitCode !== 0) break;
  }
  const notRun = chosen.slice(summary.length).map((phase) => phase.name);
  if (notRun.length > 0) summary.push(`not run: ${notRun.join(', ')}`);
  console.log(`\n=== summary ===\n${summary.join('\n')}\n`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  process.exitCode = exitCode;
});

function readOnly() {
  const known = ['unit', 'kernels', 'lint', 'types', 'e2e'];
  try {
    const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
    if (only === undefined || known.includes(only)) return only;
  } catch {
    // The answer is the same as for a wrong value.
  }
  throw new StepError(`Use: npm test [-- --only ${known.join('|')}]`, 2);
}
