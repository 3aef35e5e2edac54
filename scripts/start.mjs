/** `npm start`: from a fresh clone to a running server. Plain JavaScript without dependencies, for Node 20 or newer. */
import { buildWeb } from './workspace/build-web.mjs';
import { install } from './workspace/install.mjs';
import { inRoot, pinnedNode } from './workspace/paths.mjs';
import { become, runMain } from './workspace/process.mjs';

runMain(async () => {
  await install();
  if (!process.argv.includes('--help')) await buildWeb();
  become(pinnedNode, [inRoot('apps', 'server', 'src', 'main.ts'), ...process.argv.slice(2)]);
});
