/** A volunteer: a browser context of their own, the donate page, and the button pressed. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from '@playwright/test';

interface DonorOptions extends BrowserContextOptions {
  /** What is chosen under "Compute with". @default the fastest that works */
  backend?: 'webgpu' | 'webgl' | 'wasm' | 'cpu';
}

export class Donor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors that the page threw, console errors included. */
  readonly errors: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
  }

  /** Opens the donate page of a run and starts. Resolves once the tab says that it computes, waits or the like. */
  static async join(
    browser: Browser,
    url: string,
    runId: string,
    { backend, ...options }: DonorOptions = {},
  ): Promise<Donor> {
    const context = await browser.newContext(options);
    const donor = new Donor(context, await context.newPage());
    await donor.page.goto(`${url}/donate/${runId}`);
    if (backend) {
      await donor.page.getByText('More options').click();
      await donor.page.getByLabel('Compute with').selectOption(backend);
    }
    await donor.page.getByTestId('start').click();
    await donor.page.getByTestId('phase').waitFor();
    return donor;
  }

  /** What the page says it does now. */
  phase(): Promise<string> {
    return this.page.getByTestId('phase').innerText();
  }

  backend(): Promise<string> {
    return this.page.getByTestId('backend').innerText();
  }

  async acceptedSamples(): Promise<number> {
    return Number((await this.page.getByTestId('accepted-samples').innerText()).replaceAll(/\D/g, ''));
  }

  /** Closes the tab without a word, as volunteers do. */
  async close(): Promise<void> {
    await this.context.close();
  }
}
