/**
 * `npm run bench:kernels`: Tabweave against other ways to train in a browser, on this machine's WebGPU adapter. Prints
 * tables, writes bench/results/kernels.json and a plot. docs/performance.md says what is measured and how.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { inRoot } from '../../scripts/workspace/paths.mjs';
import { chooseBrowser } from './browser.ts';
import { higher, measureCeilings } from './ceilings.ts';
import { baseContender } from './contenders.ts';
import { writeDocs } from './docs.ts';
import { measureKernels } from './kernels.ts';
import { modelNames } from './models.ts';
import { largeOperations, smallOperations } from './operations.ts';
import { readOptions, usage, type Options } from './options.ts';
import { plot } from './plot.ts';
import type { Ceilings, Report } from './report.ts';
import { serveSite } from './site.ts';
import { measureSteps } from './steps.ts';
import { raisedBy, withCeilings } from './summary.ts';
import { consoleTables } from './table.ts';

const log = (line: string): void => console.log(line);

async function main(options: Options): Promise<void> {
  const site = await serveSite();
  try {
    const { launch, adapter, version } = await chooseBrowser(options, site.url);
    const kind = adapter.software ? 'software' : 'hardware';
    log(`Chromium ${version}; ${kind} adapter ${adapter.name}`);
    const session = await launch();
    try {
      const measure = (): Promise<Ceilings> => measureCeilings(session, site.url, adapter.software, log);
      const before = await measure();
      const common = { ...options, url: site.url, session, only: options.contenders, log };
      const steps = options.steps
        ? await measureSteps({
            ...common,
            launch,
            adapter,
            ceilings: before,
            models: options.models ?? (adapter.software ? ['tiny', 'cnn'] : [...modelNames]),
            memoryGiB: options.memoryGiB ?? (adapter.software ? 2 : 16),
          })
        : [];
      const kernels = options.kernels
        ? await measureKernels({
            ...common,
            operations: adapter.software ? smallOperations : [...smallOperations, ...largeOperations],
          })
        : [];
      const ceilings = raisedBy(kernels, higher(before, await measure()));
      finish(options, {
        at: new Date().toISOString(),
        machine: {
          processor: cpus()[0]?.model ?? 'unknown',
          cores: availableParallelism(),
          platform: `${process.platform} ${process.arch}`,
        },
        browser: `Chromium ${version}`,
        adapter,
        ceilings,
        steps: steps.map((result) => withCeilings(result, ceilings)),
        kernels: kernels.map((result) => withCeilings(result, ceilings)),
      });
    } finally {
      await session.close();
    }
  } finally {
    await site.close();
  }
}

function finish(options: Options, report: Report): void {
  const folder = inRoot('bench', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/kernels.json`, `${JSON.stringify(report, null, 2)}\n`);
  const picture = plot(report, baseContender);
  writeFileSync(`${folder}/kernels.svg`, picture);
  log(`\n${consoleTables(report)}\n\nWritten to bench/results/kernels.json and bench/results/kernels.svg`);
  if (!options.writeDocs) return;
  writeDocs(report, picture);
  log('Written to docs/performance.md and docs/images/kernels.svg');
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options) await main(options);
  else process.stdout.write(usage);
} catch (error) {
  console.error(`FAILED: ${(error as Error).message}`);
  process.exitCode = 1;
}
