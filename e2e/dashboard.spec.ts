/** The dashboard as an admin uses it: from a text file to a model that writes, without the API or a shell. */
import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { startHeadless } from '@tabweave/trainer/node';
import { expectAccessible } from './support/accessibility.ts';
import { ApiClient } from './support/api-client.ts';
import { readCheckpoint } from './support/checkpoint.ts';
import { expect, test } from './support/fixtures.ts';
import { ServerProcess } from './support/server-process.ts';

const text = 'the cat sat on the mat and the dog sat on the log. '.repeat(200);

async function signIn(page: Page, server: ServerProcess): Promise<void> {
  await page.goto(`${server.url}/admin`);
  await page.getByLabel('Admin token').fill(server.adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('heading', { name: 'Runs', level: 1 })).toBeVisible();
}

test('signing in: a wrong token is said to be wrong, the right one stays, the printed link works once', async ({
  page,
  server,
  browser,
}) => {
  await page.goto(`${server.url}/admin`);
  await expectAccessible(page, 'admin-sign-in');
  await page.getByLabel('Admin token').fill('not the token');
  await page.keyboard.press('Enter');
  await expect(page.getByText('This is not the admin token')).toBeVisible();
  await signIn(page, server);
  await expect(page.getByText('No runs yet')).toBeVisible();
  await page.reload();
  await expect(page.getByText('No runs yet')).toBeVisible();
  await expectAccessible(page, 'admin-empty');

  const link = /http:\S+\/admin#token=\S+/.exec(server.log)?.[0] ?? '';
  const guest = await browser.newContext();
  const linked = await guest.newPage();
  await linked.goto(link);
  await expect(linked.getByText('No runs yet')).toBeVisible();
  expect(linked.url()).not.toContain('token');
  await guest.close();
  const late = await browser.newContext();
  const refused = await late.newPage();
  await refused.goto(link);
  await expect(refused.getByText('The sign-in link did not work')).toBeVisible();
  await late.close();
});

test('a run from an uploaded file: loss moves, pause, resume, stop, checkpoint, playground', async ({
  page,
}) => {
  test.setTimeout(240_000);
  const server = await ServerProcess.start({ DEMO: '0', GATHER_MS: '0' });
  const api = new ApiClient(server);
  try {
    await signIn(page, server);
    await page.getByRole('link', { name: 'New run' }).first().click();
    await page
      .getByLabel('Text file')
      .setInputFiles({ name: 'cats.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByLabel('Licence or origin').fill('Public domain');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await expect(page.getByLabel('Beginning of cats.txt')).toContainText('the cat sat on the mat');
    await page.getByText('Nano', { exact: true }).click();
    await page.getByLabel('Steps', { exact: true }).fill('100000');
    await page.getByLabel('Tokens per sample').fill('32');
    await page.getByLabel('Learning rate', { exact: true }).fill('0.01');
    await page.getByLabel('Name', { exact: true }).fill('Cats and dogs');
    await expectAccessible(page, 'admin-new-run');
    await page.getByRole('button', { name: 'Create and start' }).click();

    await expect(page.getByRole('heading', { name: 'Cats and dogs', level: 1 })).toBeVisible();
    await expect(page.getByText('Invite volunteers')).toBeVisible();
    await expectAccessible(page, 'admin-run-waiting');
    const [run] = (await api.call<{ runs: { id: string }[] }>('GET', '/runs')).runs;
    if (!run) throw new Error('the dashboard made no run');
    const { id } = run;

    const worker = await startHeadless({ url: server.url, runId: id, backend: 'wasm' });
    const loss = page.getByText('Training loss', { exact: true }).locator('xpath=..');
    const lossNow = async (): Promise<number> => Number(/[\d.]+/.exec(await loss.innerText())?.[0] ?? NaN);
    await expect.poll(lossNow).toBeGreaterThan(0);
    const early = await lossNow();
    await expect.poll(lossNow, { timeout: 60_000 }).toBeLessThan(early - 0.5);
    await expectAccessible(page, 'admin-run-charts');
    await page.getByRole('tab', { name: 'Volunteers (1)' }).click();
    await expect(page.getByRole('region', { name: 'Volunteers' }).getByRole('row')).toHaveCount(2);
    await expectAccessible(page, 'admin-run-volunteers');

    await page.getByRole('button', { name: 'Pause' }).click();
    await expect(page.getByText('This run is paused')).toBeVisible();
    // What was under way may still be committed; after that, nothing moves.
    await expect.poll(async () => (await api.workers(id)).map(({ state }) => state)).not.toContain('working');
    const paused = await api.until(id, 'the pause', ({ status }) => status === 'paused');
    await page.getByRole('button', { name: 'Resume' }).click();
    // And until it knows the words that the playground is to write.
    await api.until(
      id,
      'a low loss after the pause',
      ({ step, trainLoss }) => step > paused.step && trainLoss !== null && trainLoss < 0.15,
      120_000,
    );

    await page.getByRole('button', { name: 'Stop' }).click();
    await expectAccessible(page, 'admin-run-stop');
    await page.getByRole('button', { name: 'Keep it' }).click();
    expect((await api.run(id)).status).toBe('running');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Stop for good' }).click();
    const stopped = await api.until(id, 'the stop', ({ status }) => status === 'stopped');
    await worker.stop();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Checkpoint' }).click();
    const checkpoint = readCheckpoint(readFileSync(await (await download).path()));
    expect(checkpoint.config).toEqual(stopped.config);
    expect(checkpoint.parameters).toEqual((await api.parameters(id)).values);

    await page.getByRole('tab', { name: 'Playground' }).click();
    await page.getByLabel('Prompt').fill('the cat');
    await page.getByRole('spinbutton', { name: 'Tokens' }).fill('40');
    await page.getByRole('spinbutton', { name: 'Temperature' }).fill('0');
    await page.getByRole('button', { name: 'Generate' }).click();
    await expect(page.getByText(/40 tokens from the parameters of step/)).toBeVisible({ timeout: 60_000 });
    // The text is 51 characters over and over: at temperature 0 a model that has learned it writes its words.
    const written = await page.getByRole('region', { name: 'Generated text' }).innerText();
    expect(written).toMatch(/^the cat/);
    expect(text.slice(0, 200)).toContain(
      /\b(?:sat on the|and the)\b/.exec(written)?.[0] ?? 'none of its words',
    );
    await expectAccessible(page, 'admin-playground');
    await page.getByRole('tab', { name: 'Details' }).click();
    await expect(page.getByText(stopped.parametersHash ?? '').first()).toBeVisible();
    await expectAccessible(page, 'admin-details');
  } finally {
    await server.dispose();
  }
});

test('what does not fit is said at its field, and nothing is made', async ({ page }) => {
  const server = await ServerProcess.start({ DEMO: '0' });
  const api = new ApiClient(server);
  try {
    await api.uploadText(text, { name: 'cats' });
    await signIn(page, server);
    await page.goto(`${server.url}/admin/new`);
    await page.getByText('Nano', { exact: true }).click();
    await page.getByLabel('Tokens per sample').fill('65');
    await page.getByRole('button', { name: 'Create and start' }).click();
    await expect(page.getByText('One thing is not right yet')).toBeVisible();
    await expect(page.getByLabel('Tokens per sample')).toHaveAttribute('aria-invalid', 'true');
    expect(await api.call('GET', '/runs')).toEqual({ runs: [] });
    await page.goto(`${server.url}/admin/runs/nosuchrun`);
    await expect(page.getByText(/no run nosuchrun/)).toBeVisible();
    for (const name of ['datasets', 'models']) {
      await page.goto(`${server.url}/admin/${name}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expectAccessible(page, `admin-${name}`);
    }
  } finally {
    await server.dispose();
  }
});
