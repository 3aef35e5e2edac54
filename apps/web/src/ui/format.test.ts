import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCompact,
  formatDuration,
  formatElapsed,
  formatNumber,
  formatPercent,
  plural,
  unknown,
} from './format.ts';

test('durations change unit before they round up to one', () => {
  expect(formatDuration(999.4)).toBe('999 ms');
  expect(formatDuration(999.6)).toBe('1.0 s');
  expect(formatDuration(59_400)).toBe('59 s');
  expect(formatDuration(59_600)).toBe('1 min');
  expect(formatDuration(11_100_000)).toBe('3 h 5 min');
  expect(formatDuration(7_200_000)).toBe('2 h');
  expect(formatDuration(187_200_000)).toBe('2 d 4 h');
});

test('elapsed time reads like a clock', () => {
  expect(formatElapsed(5000)).toBe('0:05');
  expect(formatElapsed(760_000)).toBe('12:40');
  expect(formatElapsed(3_600_000)).toBe('1:00:00');
  expect(formatElapsed(90_065_000)).toBe('25:01:05');
});

test('bytes are decimal and never read 1000 of a unit', () => {
  expect(formatBytes(0)).toBe('0 B');
  expect(formatBytes(999)).toBe('999 B');
  expect(formatBytes(999_600)).toBe('1.0 MB');
  expect(formatBytes(545_536)).toBe('546 kB');
  expect(formatBytes(1_500_000_000)).toBe('1.5 GB');
});

test('small learning rates stay readable', () => {
  expect(formatNumber(0.001)).toBe('0.001');
  expect(formatNumber(0.00012)).toBe('1.2e-4');
  expect(formatNumber(12_345_678)).toBe('1.2e7');
  expect(formatNumber(0)).toBe('0');
});

test('what is not known is a dash, not NaN', () => {
  for (const format of [formatBytes, formatCompact, formatDuration, formatNumber, formatPercent]) {
    expect(format(null)).toBe(unknown);
    expect(format(Number.NaN)).toBe(unknown);
  }
});

test('a small share keeps a digit', () => {
  expect(formatPercent(0.034)).toBe('3.4 %');
  expect(formatPercent(0.5)).toBe('50 %');
  expect(formatPercent(0)).toBe('0 %');
});

test('one is singular', () => {
  expect(plural(1, 'volunteer')).toBe('1 volunteer');
  expect(plural(1200, 'volunteer')).toBe('1,200 volunteers');
});
