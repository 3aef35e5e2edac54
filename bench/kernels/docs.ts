/** Puts the tables of a run into docs/performance.md, between markers, and the plot beside it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { inRoot } from '../../scripts/workspace/paths.mjs';
import type { Report } from './report.ts';
import { ceilingsLine, kernelTable, leftOut, markdown, stepTable } from './table.ts';

const begin = '<!-- bench:kernels begin -->';
const end = '<!-- bench:kernels end -->';

export function writeDocs(report: Report, picture: string): void {
  const page = inRoot('docs', 'performance.md');
  writeFileSync(page, replaceBetweenMarkers(readFileSync(page, 'utf8'), section(report)));
  writeFileSync(inRoot('docs', 'images', 'kernels.svg'), picture);
}

/** @throws Error when the page has not exactly one pair of markers. */
export function replaceBetweenMarkers(page: string, text: string): string {
  const [before, rest, ...more] = page.split(begin);
  const [, after, ...again] = (rest ?? '').split(end);
  if (before === undefined || after === undefined || more.length > 0 || again.length > 0) {
    throw new Error(`docs/performance.md needs one "${begin}" and one "${end}" after it`);
  }
  return `${before}${begin}\n\n${text}\n\n${end}${after}`;
}

export function section(report: Report): string {
  const { machine, browser, adapter, at } = report;
  const rounds = report.steps[0]?.contenders[0]?.rounds.length ?? 0;
  const kind = adapter.software ? 'a software adapter' : 'a GPU';
  return [
    `${at.slice(0, 10)}, ${browser} on ${kind} (${adapter.name}); ${machine.processor}, ${machine.cores} cores, ` +
      `${machine.platform}; ${rounds} rounds.`,
    ceilingsLine(report),
    ...(report.steps.length > 0
      ? ['Steps:', markdown(stepTable(report)), '![The same as a picture](images/kernels.svg)']
      : []),
    ...(report.kernels.length > 0 ? ['Single operations:', markdown(kernelTable(report))] : []),
    ...leftOut(report),
  ].join('\n\n');
}
