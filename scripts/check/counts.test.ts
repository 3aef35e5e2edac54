import { expect, test } from 'vitest';
import { playwrightCounts, vitestCounts } from './counts.mjs';

test('a vitest file that could not be loaded counts as one failure', () => {
  const report = {
    numPassedTests: 3,
    numFailedTests: 1,
    testResults: [
      { status: 'failed', assertionResults: [{}, {}] },
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{}, {}] },
    ],
  };
  expect(vitestCounts(report)).toEqual({ passed: 3, failed: 2 });
});

test('errors outside Playwright tests are failures, flaky tests passed', () => {
  const report = { stats: { expected: 4, unexpected: 1, flaky: 2 }, errors: [{}] };
  expect(playwrightCounts(report)).toEqual({ passed: 6, failed: 2 });
});
