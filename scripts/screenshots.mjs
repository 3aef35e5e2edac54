/**
 * Takes the pictures of the README from the real thing: `npm run screenshots`. A server with its demo run, a tab
 * that donates (by WebAssembly: a software GPU would hardly get a share), and a headless worker for company.
 */
import { mkdirSync } from 'node:fs';
import { launchChromium } from '../e2e/support/chromium.ts';
import { Donor } from '../e2e/support/donor.ts';
import { ApiClient } from '../e2e/support/api-client.ts';
import { ServerProcess } from '../e2e/support/server-process.ts';
import { startHeadless } from '../packages/trainer/src/node/index.ts';
import { inRoot } from './workspace/paths.mjs';

const size = { width: 1440, height: 900 };
const steps = 300;
const images = inRoot('docs', 'images');

const server = await ServerProcess.start();
const browser = await launchChromium();
try {
  const api = new ApiClient(server);
  const [run] = (await api.call('GET', '/runs')).runs;
  if (!run) throw new Error('the server has no demo run');
  const helpers = await startHeadless({ url: server.url, runId: run.id, backend: 'wasm' });
  await api.until(run.id, `${steps} steps`, ({ step }) => step >= steps, 300_000);
  const donor = await Donor.join(browser, server.url, run.id, { viewport: size, backend: 'wasm' });
  await api.until(run.id, 'the tab to join', ({ workers }) => workers === 2, 60_000);
  await api.until(run.id, 'more steps', ({ step }) => step >= steps + 40, 300_000);
  await donor.page.getByText('Training', { exact: true }).first().waitFor();
  mkdirSync(images, { recursive: true });
  await donor.page.screenshot({ path: `${images}/donate.png` });

  const admin = await browser.newPage({ viewport: size });
  await admin.goto(`${server.url}/admin#token=${server.adminToken}`);
  await admin.getByText(run.name).first().click();
  await admin.waitForTimeout(3000);
  await admin.screenshot({ path: `${images}/dashboard.png` });
  await donor.close();
  await helpers.stop();
  console.log(`Written to ${images}`);
} finally {
  await browser.close();
  await server.dispose();
}
