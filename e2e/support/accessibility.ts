/** Looks at a page as it stands: axe finds nothing, nothing sticks out sideways, and a picture is kept. */
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { inRoot } from '../../scripts/workspace/paths.mjs';
import { expect } from './fixtures.ts';

const looks = [
  { width: 1440, height: 900, colorScheme: 'light' },
  { width: 360, height: 800, colorScheme: 'dark' },
  { width: 1440, height: 900, colorScheme: 'dark' },
  { width: 360, height: 800, colorScheme: 'light' },
] as const;

/** Screenshots go to test-results/screenshots/NAME-WIDTH-SCHEME.png. The page is left light and wide. */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  for (const { width, height, colorScheme } of looks) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await settle(page);
    const path = inRoot('test-results', 'screenshots', `${name}-${width}-${colorScheme}.png`);
    await page.screenshot({ path, fullPage: true });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect
      .soft(
        violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`),
        `${name}, ${width} px, ${colorScheme}`,
      )
      .toEqual([]);
    expect.soft(await sidewaysPixels(page), `${name}, ${width} px: pixels to scroll sideways`).toBe(0);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'no-preference' });
}

/** Presses Tab until `reached` says that the focus is there. */
export async function tabTo(page: Page, testId: string, most = 40): Promise<void> {
  for (let i = 0; i < most; i++) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => document.activeElement?.getAttribute('data-testid') ?? '');
    if (focused === testId) return;
  }
  throw new Error(`"${testId}" cannot be reached by ${most} presses of Tab`);
}

/** Charts follow their column's width by a ResizeObserver, colours by transitions: both end within frames. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = () => new Promise(requestAnimationFrame);
    for (let i = 0; i < 4; i++) await frame();
    const running = document
      .getAnimations()
      .filter((animation) => animation.effect?.getTiming().iterations !== Infinity);
    await Promise.all(running.map((animation) => animation.finished.catch(() => undefined)));
    await frame();
  });
}

function sidewaysPixels(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}
