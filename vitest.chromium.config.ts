/** The kernels' tests in a real headless Chromium, on its software GPU: `vitest run -c vitest.chromium.config.ts`. */
import { playwright } from '@vitest/browser-playwright';
import { defineConfig } from 'vitest/config';
import { chromiumArguments } from './e2e/support/chromium.ts';
import { findChromium } from './scripts/check/chromium.mjs';
import { inRoot } from './scripts/workspace/paths.mjs';

export default defineConfig({
  root: inRoot('packages', 'kernels'),
  cacheDir: inRoot('node_modules', '.vite-chromium'),
  // A dependency found only while tests run would reload the page under them.
  optimizeDeps: {
    include: [
      '@tensorflow/tfjs',
      '@tensorflow/tfjs-core',
      '@tensorflow/tfjs-backend-webgpu',
      '@tensorflow/tfjs-backend-wasm',
      '@tabweave/shared > zod',
      'fast-check',
    ],
  },
  test: {
    include: ['src/**/*.test.ts'],
    // These need Node: files, or Dawn's null back end.
    exclude: ['**/*.node.test.ts', 'src/overrides/wasm.test.ts', 'src/kernel/compile.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    provide: { adapter: { name: 'swiftshader', features: [] } },
    // SwiftShader uses every core: a second file beside the first would slow both.
    fileParallelism: false,
    browser: {
      enabled: true,
      headless: true,
      provider: playwright({
        launchOptions: { executablePath: await findChromium(), args: chromiumArguments },
      }),
      instances: [{ browser: 'chromium' }],
      screenshotFailures: false,
    },
  },
});
