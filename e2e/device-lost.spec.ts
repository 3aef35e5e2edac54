/** The GPU process of a real Chromium dies under a tab that trains: the tab begins afresh by itself. */
import { Donor } from './support/donor.ts';
import { launchChromium } from './support/chromium.ts';
import { expect, test } from './support/fixtures.ts';

test('a lost GPU device costs a moment, not the run', async ({ api, server }) => {
  test.setTimeout(240_000);
  const draft = await api.createRun({
    name: 'survivor',
    text: 'the cat sat on the mat and the dog sat on the log. '.repeat(60),
    config: { n_layer: 1, n_head: 2, n_embd: 16, n_positions: 8 },
    recipe: { blockSize: 8, globalBatch: 8, maxSteps: 1_000_000, evaluateEvery: 0 },
  });
  const run = await api.act(draft.id, 'start');
  const browser = await launchChromium();
  try {
    const donor = await Donor.join(browser, server.url, run.id, { backend: 'webgpu' });
    await expect(donor.page.getByTestId('backend')).toContainText('WebGPU', { timeout: 60_000 });
    await expect.poll(() => donor.acceptedSamples(), { timeout: 120_000 }).toBeGreaterThan(0);

    const devtools = await browser.newBrowserCDPSession();
    // The answer may be lost with the process.
    await devtools.send('Browser.crashGpuProcess').catch(() => undefined);
    await expect(donor.page.getByText('1 fresh start')).toBeVisible({ timeout: 60_000 });
    const { step } = await api.run(run.id);
    const before = await donor.acceptedSamples();
    await expect.poll(() => donor.acceptedSamples(), { timeout: 120_000 }).toBeGreaterThan(before);
    await api.until(run.id, 'steps after the loss', (now) => now.step > step);

    // Nothing that was half computed has counted: every step has its whole batch, and a loss that is a number.
    const points = await api.points(run.id);
    expect(points.every(({ samples, trainLoss }) => samples === 8 && Number.isFinite(trainLoss))).toBe(true);
    expect(points.reduce((sum, { refused }) => sum + refused, 0)).toBe(0);
    await donor.close();
  } finally {
    await browser.close();
    await api.act(run.id, 'stop');
  }
});
