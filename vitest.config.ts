import { defineConfig } from 'vitest/config';
import { vulkanDriverEnvironment } from './packages/kernels/src/node/vulkan-driver.ts';

// WebGPU in Node needs a Vulkan driver, which a process finds only when it starts: test files run in child processes.
Object.assign(process.env, vulkanDriverEnvironment(process.env) ?? {});

export default defineConfig({
  test: {
    pool: 'forks',
    include: [
      'packages/*/src/**/*.test.ts',
      'apps/*/src/**/*.test.{ts,tsx}',
      'scripts/**/*.test.ts',
      'bench/**/*.test.ts',
      'docs/**/*.test.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
