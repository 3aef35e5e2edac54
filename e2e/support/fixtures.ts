/** What the specs stand on: a server of their own, its API, and donors in their own browser contexts. */
import { test as base } from '@playwright/test';
import { ApiClient } from './api-client.ts';
import { ServerProcess } from './server-process.ts';

interface WorkerFixtures {
  /** One server for all tests of a spec file; tests that kill it or need it empty start their own. */
  server: ServerProcess;
  api: ApiClient;
}

export const test = base.extend<object, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await ServerProcess.start({ DEMO: '0', GATHER_MS: '0' });
      await use(server);
      await server.dispose();
    },
    { scope: 'worker' },
  ],
  api: [async ({ server }, use) => use(new ApiClient(server)), { scope: 'worker' }],
});

export { expect } from '@playwright/test';
