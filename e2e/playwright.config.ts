import { defineConfig } from '@playwright/test';
import { findChromium } from '../scripts/check/chromium.mjs';

/**
 * WebGPU on SwiftShader wherever there is no GPU, so that the shaders run for real on any machine; and no
 * traffic of Chromium's own.
 */
const chromiumArgs = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

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
    launchOptions: { executablePath: await findChromium(), args: chromiumArgs },
    screenshot: 'only-on-failure',
    trace: 'off',
  },
});
