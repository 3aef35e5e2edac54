/** Numbers for people. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

export const formatCount = (value: number): string => whole.format(value);

const rate = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 2 });

/** Three significant digits with a letter: 136,384 as `136K`. */
export const formatCompact = (value: number): string => compact.format(value);

export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** Operations a second: `3.9 GFLOP/s`. */
export function formatRate(flopsPerSecond: number): string {
  return `${rate.format(flopsPerSecond).replace(/(\d)([A-Z]?)$/, '$1 $2')}FLOP/s`.replace('B', 'G');
}

/** `45 s`, `12 min`, `3 h 5 min`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** `12 ms`, `3.4 s`. */
export function formatMilliseconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

/** Whole seconds until `at`, never below 0. */
export function secondsUntil(at: number, now: number): number {
  return Math.max(0, Math.ceil((at - now) / 1000));
}
