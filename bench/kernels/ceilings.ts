/** What the device can do at best, measured by shaders of the bench itself. */
import type { Browser } from '@playwright/test';
import { closePage, openPage } from './browser.ts';
import type { Ceilings } from './report.ts';
import { threeDigits } from './table.ts';

export async function measureCeilings(
  session: Browser,
  url: string,
  software: boolean,
  log: (line: string) => void,
): Promise<Ceilings> {
  const page = await openPage(session, url);
  const ceilings = await page.evaluate((slow) => window.bench.ceilings(slow), software);
  await closePage(page);
  const { flops, flopsBy, bandwidth } = ceilings;
  log(`ceilings: ${threeDigits(flops / 1e9)} GFLOP/s by ${flopsBy}, ${threeDigits(bandwidth / 1e9)} GB/s`);
  return ceilings;
}

/** A ceiling is measured before and after the contenders: a busy moment lowers it, and nothing raises it. */
export function higher(a: Ceilings, b: Ceilings): Ceilings {
  const { flops, flopsBy } = a.flops >= b.flops ? a : b;
  return { flops, flopsBy, bandwidth: Math.max(a.bandwidth, b.bandwidth) };
}
