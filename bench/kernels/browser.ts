/** The Chromium of the bench: on the GPU where there is one, else on the software adapter, always headless. */
import { chromium, type Browser, type Page } from '@playwright/test';
import { findOrInstallChromium } from '../../scripts/check/chromium.mjs';
import { chromiumArguments } from '../../e2e/support/chromium.ts';
import type { Options } from './options.ts';
import type { AdapterReport } from './report.ts';

export type Launch = () => Promise<Browser>;

const softwareFlag = '--use-webgpu-adapter=swiftshader';
/** WebGL runs in software as well, which Chromium no longer does unasked. */
const softwareArguments = [...chromiumArguments, '--enable-unsafe-swiftshader'];
const hardwareArguments = [
  ...chromiumArguments.filter((argument) => argument !== softwareFlag),
  ...(process.platform === 'linux' ? ['--use-angle=vulkan', '--enable-features=Vulkan'] : []),
  '--ignore-gpu-blocklist',
];

/** @throws Error when there is no Chromium and none can be installed, no adapter, or not the adapter asked for. */
export async function chooseBrowser(
  { browser, adapter: wanted }: Options,
  url: string,
): Promise<{ launch: Launch; adapter: AdapterReport; version: string }> {
  const executablePath = browser ?? (await findOrInstallChromium());
  const launcher = (args: string[]): Launch => {
    // The new headless mode is the browser itself; the old one had no GPU.
    return () => chromium.launch({ executablePath, args: [...args, '--headless=new'], headless: true });
  };
  const attempts = [
    ...(wanted === 'software' ? [] : [{ args: hardwareArguments, software: false }]),
    ...(wanted === 'hardware' ? [] : [{ args: softwareArguments, software: true }]),
  ];
  for (const { args, software } of attempts) {
    const launch = launcher(args);
    const found = await probe(launch, url);
    if (found.adapter && found.adapter.software === software) {
      return { launch, adapter: found.adapter, version: found.version };
    }
  }
  throw new Error(`No ${wanted === 'any' ? '' : `${wanted} `}WebGPU adapter was found in ${executablePath}.`);
}

async function probe(
  launch: Launch,
  url: string,
): Promise<{ adapter: AdapterReport | null; version: string }> {
  const browser = await launch();
  try {
    const page = await openPage(browser, url);
    return { adapter: await page.evaluate(() => window.bench.adapter()), version: browser.version() };
  } finally {
    await browser.close();
  }
}

/** A page in a context of its own: contenders share the browser and its GPU process, and nothing else. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'bench' in window);
  return page;
}

export async function closePage(page: Page): Promise<void> {
  await page.context().close();
}
