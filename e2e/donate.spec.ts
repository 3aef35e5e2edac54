/** The donate page as a volunteer meets it. WASM, which starts at once; WebGPU is main-job.spec.ts's. */
import type { Page } from '@playwright/test';
import type { Run } from '@tabweave/shared';
import { expectAccessible, tabTo } from './support/accessibility.ts';
import type { ApiClient } from './support/api-client.ts';
import { Donor } from './support/donor.ts';
import { expect, test } from './support/fixtures.ts';

let run: Run;

test.beforeAll(async ({ api }) => {
  run = await startRun(api, 'Tales of the mill');
});

async function startRun(api: ApiClient, name: string): Promise<Run> {
  const draft = await api.createRun({
    name,
    text: 'the cat sat on the mat and the dog sat on the log. '.repeat(60),
    config: { n_layer: 1, n_head: 2, n_embd: 16, n_positions: 16 },
    recipe: { blockSize: 16, globalBatch: 8, maxSteps: 1_000_000, evaluateEvery: 50 },
  });
  return api.act(draft.id, 'start');
}

const phase = (page: Page) => page.getByTestId('phase');
const samples = async (page: Page): Promise<number> =>
  Number((await page.getByTestId('accepted-samples').innerText()).replaceAll(/\D/g, ''));

async function workersOf(api: ApiClient, id: string): Promise<string[]> {
  return (await api.workers(id)).map(({ state }) => state);
}

test('nothing runs before Start: the page says what, for whom and with which data', async ({
  page,
  api,
  server,
}) => {
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  page.on('request', (request) => {
    if (request.url().includes('/socket.io/')) sockets.push(request.url());
  });
  await page.goto(`${server.url}/donate/${run.id}`);
  await expect(page.getByRole('heading', { name: 'Tales of the mill' })).toBeVisible();
  await expect(page.getByText('Nothing runs before you press Start.')).toBeVisible();
  await expect(page.getByTestId('start')).toBeVisible();
  await expectAccessible(page, 'donate-before');
  expect(sockets).toEqual([]);
  expect(page.workers()).toEqual([]);
  expect(await workersOf(api, run.id)).toEqual([]);
});

test('by mouse: start, pause, resume, finish; the server sees the same', async ({ browser, api, server }) => {
  const donor = await Donor.join(browser, server.url, run.id, { backend: 'wasm' });
  const { page } = donor;
  await expect(phase(page)).toHaveText('Training');
  await expect(page.getByTestId('backend')).toContainText('WebAssembly');
  await expect.poll(() => samples(page)).toBeGreaterThan(0);
  await expectAccessible(page, 'donate-training');

  await page.getByTestId('pause').click();
  await expect(phase(page)).toHaveText('Paused');
  await expect.poll(() => workersOf(api, run.id)).toEqual(['paused']);
  const { step } = await api.run(run.id);
  const before = await samples(page);
  await expectAccessible(page, 'donate-paused');
  expect((await api.run(run.id)).step).toBeLessThanOrEqual(step + 1);

  await page.getByTestId('resume').click();
  await expect(phase(page)).toHaveText('Training');
  await expect.poll(() => samples(page)).toBeGreaterThan(before);

  await page.getByTestId('finish').click();
  await expect(page.getByTestId('start')).toBeVisible();
  await expect(page.getByText('Stopped. Thank you!')).toBeVisible();
  await expect.poll(() => workersOf(api, run.id)).toEqual([]);
  expect(donor.errors).toEqual([]);
  await donor.close();
});

test('by keyboard alone: choose how to compute, start, pause, stop', async ({ page, server }) => {
  await page.goto(`${server.url}/donate/${run.id}`);
  await page.getByText('More options').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Compute with').focus();
  // Typing picks the option that begins so.
  await page.keyboard.type('WebAss');
  await expect(page.getByLabel('Compute with')).toHaveValue('wasm');
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.evaluate(() => window.scrollTo(0, 0));
  await tabTo(page, 'start');
  await page.keyboard.press('Enter');
  await expect(phase(page)).toHaveText('Training');
  await tabTo(page, 'pause');
  await page.keyboard.press('Space');
  await expect(phase(page)).toHaveText('Paused');
  // The same button, with the focus still on it.
  await expect(page.getByTestId('resume')).toBeFocused();
  await page.keyboard.press('Space');
  await expect(phase(page)).toHaveText('Training');
  await tabTo(page, 'finish');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Stopped. Thank you!')).toBeVisible();
});

test('one tab of a browser works at a time; another can take over', async ({ browser, api, server }) => {
  const donor = await Donor.join(browser, server.url, run.id, { backend: 'wasm' });
  await expect(phase(donor.page)).toHaveText('Training');
  const second = await donor.context.newPage();
  await second.goto(`${server.url}/donate/${run.id}`);
  await second.getByTestId('start').click();
  await expect(second.getByText('Running in another tab')).toBeVisible();
  expect(await workersOf(api, run.id)).toHaveLength(1);
  await second.getByTestId('take-over').click();
  await expect(phase(second)).toHaveText('Training');
  await expect(donor.page.getByText('Moved to another tab')).toBeVisible();
  await expect.poll(() => workersOf(api, run.id)).toHaveLength(1);
  await donor.close();
});

test('a run that is not there, and the choice where there are several', async ({ page, api, server }) => {
  await page.goto(`${server.url}/donate/nosuchrun`);
  await expect(page.getByText('There is no such run')).toBeVisible();
  await expectAccessible(page, 'donate-no-such-run');

  const other = await startRun(api, 'Tales of the river');
  await page.goto(server.url);
  await expect(page.getByRole('link', { name: 'Tales of the mill' })).toBeVisible();
  await expectAccessible(page, 'donate-choose');
  await page.getByRole('link', { name: 'Tales of the river' }).click();
  await expect(page.getByTestId('start')).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`/donate/${other.id}$`));
  await api.act(other.id, 'stop');
});

test('a paused run is said to be paused, and work begins again by itself', async ({
  browser,
  api,
  server,
}) => {
  const donor = await Donor.join(browser, server.url, run.id, { backend: 'wasm' });
  await expect(phase(donor.page)).toHaveText('Training');
  await api.act(run.id, 'pause');
  await expect(phase(donor.page)).toHaveText('Waiting: the run is paused');
  await api.act(run.id, 'resume');
  await expect(phase(donor.page)).toHaveText('Training');
  await donor.close();
});
