/** The report as tables: padded for the console, Markdown for the page. */
import { baseContender, nameOf } from './contenders.ts';
import type { CaseResult, Report } from './report.ts';
import type { Spread } from './spread.ts';

export interface Table {
  head: string[];
  rows: string[][];
}

export function stepTable(report: Report): Table {
  return {
    head: ['model', 'contender', 'step', 'times as fast', 'first step', 'of ceiling'],
    rows: report.steps.flatMap((result) => rows(result, (first) => [first])),
  };
}

export function kernelTable(report: Report): Table {
  return {
    head: ['operation', 'contender', 'launch', 'times as fast', 'of ceiling'],
    rows: report.kernels.flatMap((result) => rows(result, () => [])),
  };
}

function rows(result: CaseResult, firstCells: (first: string) => string[]): string[][] {
  return result.contenders.map(({ contender, time, speedup, first, ofCeiling }, index) => [
    index === 0 ? result.name : '',
    nameOf(contender),
    withRange(time, milliseconds),
    speedup === null ? '' : contender === result.base ? '1' : withRange(speedup, factor),
    ...firstCells(first === null ? '' : milliseconds(first)),
    ofCeiling === null ? '' : percent(ofCeiling),
  ]);
}

export function markdown({ head, rows: body }: Table): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, column) => (column < 2 ? '---' : '---:'));
  return [head, rule, ...body].map(line).join('\n');
}

export function padded({ head, rows: body }: Table): string {
  const all = [head, ...body];
  const widths = head.map((_, column) => Math.max(...all.map((cells) => (cells[column] ?? '').length)));
  return all
    .map((cells) =>
      cells
        .map((cell, column) =>
          column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function consoleTables(report: Report): string {
  return [
    ...(report.steps.length > 0 ? [padded(stepTable(report))] : []),
    ...(report.kernels.length > 0 ? [padded(kernelTable(report))] : []),
    `"times as fast" is against ${nameOf(baseContender)}; ranges are the 10th to the 90th percentile of the rounds.`,
    ceilingsLine(report),
    ...leftOut(report),
  ].join('\n\n');
}

export function ceilingsLine({ ceilings: { flops, flopsBy, bandwidth } }: Report): string {
  return (
    `Ceilings: ${threeDigits(flops / 1e9)} GFLOP/s by ${flopsBy.replace(/^[\w-]+/, nameOf)}; ` +
    `${threeDigits(bandwidth / 1e9)} GB/s by a plain copy.`
  );
}

export function leftOut(report: Report): string[] {
  return [...report.steps, ...report.kernels].flatMap(({ name, skipped }) =>
    skipped.map(({ contender, reason }) => `Left out of ${name}: ${nameOf(contender)} (${reason}).`),
  );
}

function withRange({ median, low, high }: Spread, format: (value: number) => string): string {
  return `${format(median)} (${format(low)} to ${format(high)})`;
}

export function milliseconds(value: number): string {
  return value >= 10_000 ? `${threeDigits(value / 1000)} s` : `${threeDigits(value)} ms`;
}

/** Three digits, without exponents. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const rounded = Number(value.toPrecision(3));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(rounded) || 1)));
  return rounded.toFixed(decimals);
}

const factor = (value: number): string => threeDigits(value);

function percent(share: number): string {
  const value = 100 * share;
  return `${value >= 10 ? value.toFixed(0) : Number(value.toPrecision(1)).toString()} %`;
}
