/** Workers that are tabs of a real Chromium, each in a context of its own. */
import { launchChromium } from '../e2e/support/chromium.ts';
import { Donor } from '../e2e/support/donor.ts';
import type { StartWorkers } from './fleet.ts';

export async function browserWorkers(): Promise<{ start: StartWorkers; close: () => Promise<void> }> {
  const browser = await launchChromium();
  return {
    start: async (url, runId, count) => {
      const donors: Donor[] = [];
      for (let i = 0; i < count; i++) donors.push(await Donor.join(browser, url, runId));
      return async () => {
        await Promise.all(donors.map((donor) => donor.close()));
      };
    },
    close: () => browser.close(),
  };
}
