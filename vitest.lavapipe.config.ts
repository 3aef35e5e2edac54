/** Kernel tests on lavapipe, which has f16 and subgroups: `vitest run -c vitest.lavapipe.config.ts`. */
import { defineConfig } from 'vitest/config';
import { vulkanDriverEnvironment } from './packages/kernels/src/node/vulkan-driver.ts';
import { findOrFetchLavapipe, lavapipeEnvironment } from './scripts/check/lavapipe.mjs';

const driver = await findOrFetchLavapipe();
if ('reason' in driver) throw new Error(`There is no lavapipe here: ${driver.reason}.`);
Object.assign(process.env, lavapipeEnvironment(driver));
Object.assign(process.env, vulkanDriverEnvironment(process.env) ?? {});

export default defineConfig({
  test: {
    pool: 'forks',
    include: [
      'packages/kernels/src/testing/*.test.ts',
      'packages/kernels/src/matmul/*.test.ts',
      'packages/kernels/src/ops/*.test.ts',
      'packages/kernels/src/reduce/*.test.ts',
    ],
    // Its compiler takes minutes for large unrolled shaders, and the forms without subgroups run on SwiftShader too.
    testNamePattern: /^(?!.*(head width|every tile|software adapter|without subgroups))/,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    provide: { adapter: { name: '', features: ['shader-f16', 'subgroups'] } },
  },
});
