/** Runs a TypeScript file of this repository on the pinned Node: `node scripts/run.mjs FILE.ts [arguments]`. */
import { resolve } from 'node:path';
import { install } from './workspace/install.mjs';
import { pinnedNode, root } from './workspace/paths.mjs';
import { StepError, become, runMain } from './workspace/process.mjs';

runMain(async () => {
  const [file, ...args] = process.argv.slice(2);
  if (file === undefined) throw new StepError('Which file? Use: node scripts/run.mjs FILE.ts [arguments]', 2);
  await install();
  become(pinnedNode, [resolve(root, file), ...args]);
});
