/** Whole training steps: the same model, parameters and data, contender after contender, round after round. */
import type { Browser, Page } from '@playwright/test';
import { requireAgreement, type Outcome } from './agreement.ts';
import { closePage, openPage, type Launch } from './browser.ts';
import { baseContender, contenders, nameOf, type ContenderId } from './contenders.ts';
import { forecastSeconds, tooLarge, type Measured } from './forecast.ts';
import { models, stepBytes, stepFlops, type ModelName } from './models.ts';
import type { AdapterReport, Ceilings, StepResult } from './report.ts';
import { rotated } from './rounds.ts';
import { summarise, type Timed } from './summary.ts';
import { median } from '../statistics.ts';

export interface StepPlan {
  url: string;
  launch: Launch;
  session: Browser;
  adapter: AdapterReport;
  ceilings: Ceilings;
  models: ModelName[];
  only: string[] | null;
  rounds: number;
  seconds: number;
  budget: number;
  memoryGiB: number;
  /** Whether the first step is measured, in a browser of its own. */
  first: boolean;
  log: (line: string) => void;
}

interface Entrant {
  id: ContenderId;
  page: Page;
  timed: Timed;
  outcome: Outcome;
}

/** @throws Error when contenders disagree. */
export async function measureSteps(plan: StepPlan): Promise<StepResult[]> {
  const results: StepResult[] = [];
  const measured = new Map<ContenderId, Measured>();
  for (const name of plan.models) results.push(await measureModel(plan, name, measured));
  return results;
}

async function measureModel(
  plan: StepPlan,
  name: ModelName,
  measured: Map<ContenderId, Measured>,
): Promise<StepResult> {
  const { log } = plan;
  const model = models[name];
  const skipped: StepResult['skipped'] = [];
  const leaveOut = (id: ContenderId, reason: string): void => {
    skipped.push({ contender: id, reason });
    log(`  ${nameOf(id)}: left out, ${reason}`);
  };
  log(`${name}: ${(stepFlops(model) / 1e9).toPrecision(3)} GFLOP a step`);
  const entrants: Entrant[] = [];
  try {
    for (const { id, trains } of contenders) {
      if (plan.only && !plan.only.includes(id)) continue;
      if (!(trains as readonly string[]).includes(model.kind)) continue;
      const large = tooLarge(model, plan.adapter, plan.memoryGiB);
      const step = forecastSeconds(model, plan.ceilings.flops, measured.get(id) ?? null);
      const expected = step * (plan.rounds + 4);
      if (large !== null || expected > plan.budget) {
        leaveOut(id, large ?? `would take about ${Math.round(expected)} of ${plan.budget} s (--budget)`);
        continue;
      }
      try {
        entrants.push(await enter(plan, id, name));
      } catch (error) {
        leaveOut(id, `failed: ${firstLine(error)}`);
      }
    }
    requireAgreement(
      name,
      entrants.map(({ id, outcome }) => ({ contender: nameOf(id), ...outcome })),
    );
    await runRounds(plan, entrants);
  } finally {
    for (const { page } of entrants) await closePage(page);
  }
  for (const { id, timed } of entrants) {
    measured.set(id, { model, seconds: median(timed.rounds) / 1000 });
  }
  const work = { name, flops: stepFlops(model), bytes: stepBytes(model) };
  const timed = entrants.map((entrant) => entrant.timed);
  const outcome = entrants[0]?.outcome ?? { loss: NaN, gradientNorm: NaN };
  return { ...summarise(work, timed, baseContender), skipped, ...outcome };
}

async function enter(plan: StepPlan, id: ContenderId, name: ModelName): Promise<Entrant> {
  const first = plan.first ? await firstStep(plan, id, name) : null;
  const page = await openPage(plan.session, plan.url);
  try {
    await prepare(page, id, name);
    const outcome = await page.evaluate(() => window.bench.outcome());
    await page.evaluate(() => window.bench.settle());
    const began = first === null ? '' : `first step ${(first / 1000).toFixed(2)} s, `;
    const { loss, gradientNorm } = outcome;
    plan.log(`  ${nameOf(id)}: ${began}loss ${loss.toFixed(5)}, gradient norm ${gradientNorm.toFixed(5)}`);
    return { id, page, outcome, timed: { contender: id, first, rounds: [] } };
  } catch (error) {
    await closePage(page);
    throw error;
  }
}

/** In a browser that has never seen these shaders: a fresh profile, a fresh GPU process. */
async function firstStep(plan: StepPlan, id: ContenderId, name: ModelName): Promise<number> {
  const browser = await plan.launch();
  try {
    return await prepare(await openPage(browser, plan.url), id, name);
  } finally {
    await browser.close();
  }
}

function prepare(page: Page, id: ContenderId, name: ModelName): Promise<number> {
  return page.evaluate(([which, model]) => window.bench.prepare(which, model), [id, name] as const);
}

/** Every round has every contender, in an order that turns, so that whatever the machine does hits all alike. */
async function runRounds({ rounds, seconds, log }: StepPlan, entrants: Entrant[]): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const parts: string[] = [];
    for (const { id, page, timed } of rotated(entrants, round)) {
      const times = await page.evaluate((duration) => window.bench.steps(duration), seconds * 1000);
      const time = median(times);
      timed.rounds.push(time);
      parts.push(`${nameOf(id)} ${time.toPrecision(3)} ms`);
    }
    log(`  round ${round + 1} of ${rounds}: ${parts.join(', ')}`);
  }
}

function firstLine(error: unknown): string {
  return ((error as Error).message ?? String(error)).split('\n')[0] ?? '';
}
