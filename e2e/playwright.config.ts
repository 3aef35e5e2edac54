import { defineConfig } from '@playwright/test';
import { findChromium } from '../scripts/check/chromium.mjs';
import { chromiumArguments } from './support/chromium.ts';

export default defineConfig({
  testDir: '.',
  outputDir: '../test-results/e2e',
  // SwiftShader uses every core: a second test beside the first would slow both and prove nothing.
  workers: 1,
  fullyParallel: false,
  retries: 0,
  forbidOnly: process.env.CI !== undefined,
  timeout: 120_000,
  expect: { timeout: 15_000 },
  reporter: [['list']],
  use: {
    browserName: 'chromium',
    actionTimeout: 20_000,
    launchOptions: { executablePath: await findChromium(), args: chromiumArguments },
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
