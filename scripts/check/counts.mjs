/** How many tests passed and failed, from the JSON reports of the two runners. */

/**
 * Vitest's report (Jest's format). A file that could not even be loaded counts as one failure.
 * @param {{ numPassedTests: number, numFailedTests: number, testResults: { status: string, assertionResults: unknown[] }[] }} report
 */
export function vitestCounts(report) {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  ).length;
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken };
}

/**
 * Playwright's report. A flaky test passed in the end; errors outside any test (a fixture, the configuration)
 * count as failures.
 * @param {{ stats: { expected: number, unexpected: number, flaky: number }, errors?: unknown[] }} report
 */
export function playwrightCounts({ stats, errors = [] }) {
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected + errors.length };
}
