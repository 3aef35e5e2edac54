/** The steps as a picture: how many times as fast as the base each contender is, on a logarithmic axis. */
import { contenders, nameOf } from './contenders.ts';
import type { Report, StepResult } from './report.ts';
import { threeDigits } from './table.ts';

const width = 760;
const labels = 190;
const right = 90;
const barHeight = 18;
const barGap = 6;
const groupGap = 34;
const top = 54;

/** Of middling lightness: they keep 3:1 against white and against near-black alike. */
const colours: Record<string, string> = {
  'tfjs-webgpu': '#7d8590',
  'tfjs-webgl': '#a07f4f',
  jax: '#3f88c5',
  'tabweave-ops': '#2f9e6b',
  tabweave: '#c2579b',
};

/** @param base identifier of the contender at 1. */
export function plot(report: Report, base: string): string {
  const groups = report.steps.filter((result) => result.base === base);
  const values = groups.flatMap(({ contenders: all }) =>
    all.flatMap(({ speedup }) => (speedup ? [speedup.low, speedup.high] : [])),
  );
  const axis = logAxis(values);
  const x = (value: number): number =>
    labels + ((Math.log10(value) - axis.from) / (axis.to - axis.from)) * (width - labels - right);
  let y = top;
  const bars: string[] = [];
  for (const group of groups) {
    bars.push(`<text x="8" y="${y + 4}" class="group">${escape(group.name)}</text>`);
    y += 14;
    bars.push(...groupBars(group, y, x));
    y += group.contenders.length * (barHeight + barGap) + groupGap - 14;
  }
  const height = y + 8;
  const ticks = axis.ticks.map((tick) => {
    const at = x(tick).toFixed(1);
    return (
      `<line x1="${at}" y1="${top - 12}" x2="${at}" y2="${height - 22}" class="${tick === 1 ? 'one' : 'grid'}"/>` +
      `<text x="${at}" y="${height - 6}" text-anchor="middle">${tick}</text>`
    );
  });
  const title = `A training step: times as fast as ${nameOf(base)}`;
  const kind = report.adapter.software ? 'software adapter' : report.adapter.name;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328; }
.title, .group { font-weight: 600; }
.grid { stroke: #8b949e; stroke-opacity: 0.35; }
.one { stroke: #7d8590; }
.range { stroke: #1f2328; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .range { stroke: #e6edf3; } }
</style>
<text x="8" y="18" class="title">${escape(title)}</text>
<text x="8" y="34">${escape(`${report.browser}, ${kind}; logarithmic; lines: 10th to 90th percentile`)}</text>
${ticks.join('\n')}
${bars.join('\n')}
</svg>
`;
}

function groupBars(group: StepResult, start: number, x: (value: number) => number): string[] {
  return group.contenders.flatMap(({ contender, speedup }, index) => {
    if (!speedup) return [];
    const y = start + index * (barHeight + barGap);
    const middle = y + barHeight / 2;
    const [from, to] = [Math.min(x(1), x(speedup.median)), Math.max(x(1), x(speedup.median))];
    const box = `x="${from.toFixed(1)}" y="${y}" width="${Math.max(to - from, 1).toFixed(1)}" height="${barHeight}"`;
    const end = Math.max(to, x(speedup.high)) + 6;
    return [
      `<text x="${labels - 8}" y="${middle + 4}" text-anchor="end">${escape(nameOf(contender))}</text>`,
      `<rect ${box} rx="2" fill="${colours[contender] ?? '#7d8590'}"/>`,
      `<line x1="${x(speedup.low).toFixed(1)}" y1="${middle}" x2="${x(speedup.high).toFixed(1)}" y2="${middle}" class="range"/>`,
      `<text x="${end.toFixed(1)}" y="${middle + 4}">${threeDigits(speedup.median)}</text>`,
    ];
  });
}

/** Powers of ten around the values and 1; at least one decade. */
export function logAxis(values: readonly number[]): { from: number; to: number; ticks: number[] } {
  const exponents = values.filter((value) => value > 0).map(Math.log10);
  const from = Math.floor(Math.min(0, ...exponents) + 1e-9);
  const to = Math.max(from + 1, Math.ceil(Math.max(0, ...exponents) - 1e-9));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => Number(`1e${from + index}`));
  return { from, to, ticks };
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** So that a contender without a colour is found by a test, not by a reader. */
export const colourless = contenders.map(({ id }) => id).filter((id) => !(id in colours));
