/** Single operations: many launches, then one wait; contender after contender, round after round. */
import type { Browser, Page } from '@playwright/test';
import { requireSameOutputs, type Fingerprint } from './agreement.ts';
import { closePage, openPage } from './browser.ts';
import { baseContender, contenders, nameOf, type ContenderId } from './contenders.ts';
import { operationBytes, operationFlops, operationName, type Operation } from './operations.ts';
import type { CaseResult } from './report.ts';
import { rotated } from './rounds.ts';
import { summarise, type Timed } from './summary.ts';

export interface KernelPlan {
  url: string;
  session: Browser;
  operations: Operation[];
  only: string[] | null;
  rounds: number;
  seconds: number;
  log: (line: string) => void;
}

interface Entrant {
  id: ContenderId;
  page: Page;
}

/** @throws Error when contenders' outputs differ. */
export async function measureKernels(plan: KernelPlan): Promise<CaseResult[]> {
  const entrants: Entrant[] = [];
  try {
    for (const { id, operations } of contenders) {
      if (!operations || (plan.only && !plan.only.includes(id))) continue;
      const page = await openPage(plan.session, plan.url);
      entrants.push({ id, page });
      await page.evaluate((which) => window.bench.startOperations(which), id);
    }
    const results: CaseResult[] = [];
    for (const operation of plan.operations) results.push(await measureOperation(plan, operation, entrants));
    return results;
  } finally {
    for (const { page } of entrants) await closePage(page);
  }
}

async function measureOperation(
  plan: KernelPlan,
  operation: Operation,
  entrants: Entrant[],
): Promise<CaseResult> {
  const name = operationName(operation);
  const skipped: CaseResult['skipped'] = [];
  const ready: (Entrant & { timed: Timed; outputs: Fingerprint[] })[] = [];
  for (const { id, page } of entrants) {
    try {
      const outputs = await page.evaluate(
        ([wanted, milliseconds]) => window.bench.prepareOperation(wanted, milliseconds),
        [operation, plan.seconds * 1000] as const,
      );
      ready.push({ id, page, outputs, timed: { contender: id, first: null, rounds: [] } });
    } catch (error) {
      const reason = (error as Error).message.split('\n')[0] ?? '';
      skipped.push({ contender: id, reason });
      plan.log(`  ${name}: ${nameOf(id)} left out, ${reason}`);
    }
  }
  requireSameOutputs(
    name,
    ready.map(({ id, outputs }) => ({ contender: nameOf(id), outputs })),
  );
  for (let round = 0; round < plan.rounds; round++) {
    for (const { page, timed } of rotated(ready, round)) {
      timed.rounds.push(await page.evaluate(() => window.bench.launches()));
    }
  }
  const work = { name, flops: operationFlops(operation), bytes: operationBytes(operation) };
  const timed = ready.map((entrant) => entrant.timed);
  const result = { ...summarise(work, timed, baseContender), skipped };
  const times = result.contenders.map(
    ({ contender, time }) => `${nameOf(contender)} ${time.median.toPrecision(3)} ms`,
  );
  plan.log(`  ${name}: ${times.join(', ')}`);
  return result;
}
