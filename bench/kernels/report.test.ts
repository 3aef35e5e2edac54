import { expect, test } from 'vitest';
import { higher } from './ceilings.ts';
import { replaceBetweenMarkers, section } from './docs.ts';
import { readOptions } from './options.ts';
import { colourless, logAxis, plot } from './plot.ts';
import type { Ceilings, Report, StepResult } from './report.ts';
import { rotated } from './rounds.ts';
import { leastSeconds, raisedBy, summarise, withCeilings } from './summary.ts';
import { consoleTables, markdown, milliseconds, stepTable, threeDigits } from './table.ts';

const ceilings: Ceilings = { flops: 1e9, flopsBy: 'a plain shader', bandwidth: 1e8 };
const work = { name: 'tiny', flops: 2e7, bytes: 1e6 };
const timed = [
  { contender: 'tfjs-webgpu', first: 20_000, rounds: [200, 220, 210] },
  { contender: 'jax', first: 500, rounds: [50, 44, 70] },
];
const result: StepResult = withCeilings(
  {
    ...summarise(work, timed, 'tfjs-webgpu'),
    skipped: [{ contender: 'tfjs-webgl', reason: 'no context' }],
    loss: 1,
    gradientNorm: 1,
  },
  ceilings,
);
const report: Report = {
  at: '2026-01-02T03:04:05.000Z',
  machine: { processor: 'a processor', cores: 2, platform: 'linux x64' },
  browser: 'Chromium 1',
  adapter: { name: 'swiftshader', software: true, maxBindingBytes: 1 },
  ceilings,
  steps: [result],
  kernels: [],
};

test('ratios are of the same round, shares are of what the ceilings allow', () => {
  const jax = result.contenders[1];
  expect(jax?.speedup?.median).toBe(4);
  expect(jax?.time.median).toBe(50);
  // 20 ms of arithmetic, 10 ms of traffic: the arithmetic counts.
  expect(leastSeconds(work, ceilings)).toBeCloseTo(0.02, 12);
  expect(jax?.ofCeiling).toBeCloseTo(0.4, 12);
});

test('without the base there is nothing to compare with', () => {
  const alone = summarise(work, timed.slice(1), 'tfjs-webgpu');
  expect(alone.base).toBeNull();
  expect(alone.contenders[0]?.speedup).toBeNull();
});

test('the ceiling is the best of both measurements, or a contender that beats them', () => {
  const later = { flops: 9e8, flopsBy: 'later', bandwidth: 2e8 };
  expect(higher(ceilings, later)).toEqual({ flops: 1e9, flopsBy: 'a plain shader', bandwidth: 2e8 });
  expect(raisedBy([{ ...result, flops: 1e8 }], ceilings)).toEqual({
    flops: 2e9,
    flopsBy: 'jax at tiny',
    bandwidth: 1e8,
  });
  expect(raisedBy([result], ceilings)).toBe(ceilings);
});

test('the table has a row for each contender', () => {
  expect(markdown(stepTable(report)).split('\n')).toEqual([
    '| model | contender | step | times as fast | first step | of ceiling |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    '| tiny | TensorFlow.js WebGPU | 210 ms (202 ms to 218 ms) | 1 | 20.0 s | 10 % |',
    '|  | jax-js WebGPU | 50.0 ms (45.2 ms to 66.0 ms) | 4.00 (3.20 to 4.80) | 500 ms | 40 % |',
  ]);
  expect(consoleTables(report)).toContain('Left out of tiny: TensorFlow.js WebGL (no context).');
});

test('numbers have three digits and no exponents', () => {
  expect([0.001234, 0.5, 12.345, 999.9, 1234].map(threeDigits)).toEqual([
    '0.00123',
    '0.500',
    '12.3',
    '1000',
    '1230',
  ]);
  expect(milliseconds(12_345)).toBe('12.3 s');
});

test('the section replaces what is between the markers and nothing else', () => {
  const page = 'a\n<!-- bench:kernels begin -->\nold\n<!-- bench:kernels end -->\nb';
  const text = replaceBetweenMarkers(page, section(report));
  expect(text).toMatch(/^a\n<!-- bench:kernels begin -->\n\n2026-01-02, Chromium 1 on a software adapter/);
  expect(text).not.toContain('old');
  expect(text.endsWith('<!-- bench:kernels end -->\nb')).toBe(true);
  expect(replaceBetweenMarkers(text, 'x')).toBe(replaceBetweenMarkers(page, 'x'));
  expect(() => replaceBetweenMarkers('no markers', 'x')).toThrow('needs one');
});

test('the axis spans the decades of the values and 1', () => {
  expect(logAxis([2, 35])).toEqual({ from: 0, to: 2, ticks: [1, 10, 100] });
  expect(logAxis([0.2, 0.9])).toEqual({ from: -1, to: 0, ticks: [0.1, 1] });
  expect(logAxis([])).toEqual({ from: 0, to: 1, ticks: [1, 10] });
});

test('the plot has a bar as long as the logarithm says, and a colour for everyone', () => {
  const svg = plot(report, 'tfjs-webgpu');
  // 480 px for one decade from x = 190: 4 times as fast is 0.602 of it.
  expect(svg).toContain('<rect x="190.0" y="68" width="1.0" height="18"');
  expect(svg).toContain('<rect x="190.0" y="92" width="289.0" height="18"');
  expect(svg).toContain('prefers-color-scheme: dark');
  expect(colourless).toEqual([]);
});

test('every round begins with another contender', () => {
  expect([0, 1, 2, 3].map((turn) => rotated(['a', 'b', 'c'], turn).join(''))).toEqual([
    'abc',
    'bca',
    'cab',
    'abc',
  ]);
  expect(rotated([], 5)).toEqual([]);
});

test('options are read, and refused in words', () => {
  expect(readOptions(['--models', 'tiny,small', '--rounds', '3', '--only', 'steps'])).toMatchObject({
    models: ['tiny', 'small'],
    rounds: 3,
    steps: true,
    kernels: false,
    adapter: 'any',
  });
  expect(readOptions(['--help'])).toBeNull();
  expect(() => readOptions(['--models', 'huge'])).toThrow('not "huge"');
  expect(() => readOptions(['--only', 'parts'])).toThrow('--only must be steps or kernels');
  expect(() => readOptions(['--rounds', '0'])).toThrow('--rounds must be a number above 0');
  expect(() => readOptions(['--hardware', '--software'])).toThrow('not both');
});
