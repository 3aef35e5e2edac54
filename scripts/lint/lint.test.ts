/** The rules that hold the architecture bite: the real configuration, less what needs type information. */
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { describe, expect, test } from 'vitest';
import { root } from '../workspace/paths.mjs';

const eslint = new ESLint({ cwd: root, overrideConfig: [tseslint.configs.disableTypeChecked] });

async function rulesBroken(filePath: string, code: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath, warnIgnored: true });
  return (result?.messages ?? []).map((message) => message.ruleId ?? message.message);
}

const use = (specifier: string): string => `export { x } from '${specifier}';\n`;
const imports = 'no-restricted-imports';

describe('import direction', () => {
  test.each([
    ['packages/shared/src/x.ts', 'node:fs'],
    ['packages/shared/src/x.ts', '@tabweave/scheduler'],
    ['packages/shared/src/x.ts', 'zodiac'],
    ['packages/shared/src/x.test.ts', '@tabweave/trainer'],
    ['packages/scheduler/src/plan/x.ts', 'zod'],
    ['packages/scheduler/src/plan/x.ts', '@tabweave/trainer'],
    ['packages/scheduler/src/plan/x.ts', 'node:crypto'],
    ['packages/scheduler/src/plan/x.ts', '../../../trainer/src/index.ts'],
    ['packages/kernels/src/gelu/x.ts', '@tabweave/trainer'],
    ['packages/kernels/src/gelu/x.ts', 'node:fs'],
    ['packages/trainer/src/session/x.ts', '@tabweave/scheduler'],
    ['packages/trainer/src/session/x.ts', 'node:fs'],
    ['packages/trainer/src/session/x.ts', '../../../shared/src/index.ts'],
    ['apps/server/src/http/x.ts', '@tensorflow/tfjs'],
    ['apps/server/src/http/x.ts', '@tensorflow/tfjs-core'],
    ['apps/server/src/http/x.ts', '@tabweave/kernels'],
    ['apps/server/src/http/x.ts', '@tabweave/trainer/node'],
    ['apps/web/src/x.tsx', '@tabweave/scheduler'],
    ['apps/web/src/x.tsx', '@tabweave/server'],
    ['apps/web/src/x.tsx', '../../server/src/index.ts'],
  ])('%s may not import %s', async (file, specifier) => {
    expect(await rulesBroken(file, use(specifier))).toEqual([imports]);
    expect(await rulesBroken(file, `export const x = import('${specifier}');\n`)).toEqual([
      'no-restricted-syntax',
    ]);
  });

  test.each([
    ['packages/shared/src/x.ts', 'zod'],
    ['packages/shared/src/api/x.ts', '../limits.ts'],
    ['packages/shared/src/x.test.ts', 'fast-check'],
    ['packages/scheduler/src/plan/x.ts', '@tabweave/shared'],
    ['packages/scheduler/src/plan/x.test.ts', 'vitest'],
    ['packages/kernels/src/gelu/x.ts', '@tensorflow/tfjs-core'],
    ['packages/kernels/src/gelu/x.ts', '@tensorflow/tfjs-core/dist/ops/op_utils.js'],
    ['packages/trainer/src/session/x.ts', '@tabweave/kernels'],
    ['packages/trainer/src/session/x.ts', '@noble/hashes/sha2.js'],
    ['packages/trainer/src/node/x.ts', 'node:worker_threads'],
    ['apps/server/src/http/x.ts', '@tabweave/scheduler'],
    ['apps/web/src/x.tsx', '@tabweave/trainer'],
  ])('%s may import %s', async (file, specifier) => {
    expect(await rulesBroken(file, use(specifier))).toEqual([]);
  });
});

test('a synchronous read-back is refused where tensors live, and only there', async () => {
  const code = 'export const read = (t: { dataSync(): number[] }): number[] => t.dataSync();\n';
  expect(await rulesBroken('packages/kernels/src/x.ts', code)).toEqual(['no-restricted-syntax']);
  expect(await rulesBroken('packages/trainer/src/node/x.ts', code)).toEqual(['no-restricted-syntax']);
  expect(await rulesBroken('packages/kernels/src/x.test.ts', code)).toEqual([]);
});

test('a file of more than 600 lines is refused', async () => {
  const lines = (count: number): string => 'export {};\n'.repeat(count);
  expect(await rulesBroken('apps/server/src/x.ts', lines(601))).toEqual(['max-lines']);
  expect(await rulesBroken('apps/server/src/x.ts', lines(600))).toEqual([]);
});
