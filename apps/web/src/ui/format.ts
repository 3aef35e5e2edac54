/** Numbers and times for people. Decimal units, as on a disk or a data plan. */
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const significant = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

/** What stands for a value that is not known. */
export const unknown = '–';

type Maybe = number | null | undefined;
const missing = (value: Maybe): value is null | undefined =>
  value === null || value === undefined || !Number.isFinite(value);

/** 136384 as `136,384`. */
export function formatCount(value: Maybe): string {
  return missing(value) ? unknown : whole.format(value);
}

/** 136384 as `136K`. */
export function formatCompact(value: Maybe): string {
  return missing(value) ? unknown : compact.format(value);
}

/** Three significant digits; very small and very large ones as a power of ten. */
export function formatNumber(value: Maybe): string {
  if (missing(value)) return unknown;
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(1).replace('e+', 'e');
  return significant.format(value);
}

/** A loss in nats per token. */
export function formatLoss(value: Maybe): string {
  return missing(value) ? unknown : value.toFixed(3);
}

/** A share of one. */
export function formatPercent(share: Maybe): string {
  return missing(share) ? unknown : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
}

export function formatBytes(bytes: Maybe): string {
  if (missing(bytes)) return unknown;
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${value.toFixed(unit === 0 || value >= 99.95 ? 0 : 1)} ${units[unit]}`;
}

/** `340 ms`, `2.4 s`, `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`. */
export function formatDuration(milliseconds: Maybe): string {
  if (missing(milliseconds)) return unknown;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'min');
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

/** Time since a start, as a clock shows it: `0:05`, `12:40`, `3:05:00`. */
export function formatElapsed(milliseconds: Maybe): string {
  if (missing(milliseconds)) return unknown;
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  const two = (value: number): string => String(value % 60).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes)}:${two(seconds)}`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** An ISO timestamp in the reader's time zone and language. */
export function formatDateTime(timestamp: string | null): string {
  return timestamp === null ? unknown : dateTime.format(new Date(timestamp));
}

/** `1 volunteer`, `3 volunteers`. */
export function plural(count: number, word: string): string {
  return `${formatCount(count)} ${word}${count === 1 ? '' : 's'}`;
}
