/** The order of the volunteers' table. */
import type { Worker } from '@tabweave/shared';

export interface Column {
  key: string;
  label: string;
  /** What it is sorted by; null values go last either way. */
  value: (worker: Worker) => string | number | null;
  numeric: boolean;
}

export interface Order {
  key: string;
  descending: boolean;
}

export const columns: readonly Column[] = [
  { key: 'name', label: 'Volunteer', value: workerName, numeric: false },
  { key: 'device', label: 'Device', value: (worker) => worker.adapter || worker.environment, numeric: false },
  { key: 'state', label: 'State', value: (worker) => worker.state, numeric: false },
  { key: 'share', label: 'Share', value: (worker) => worker.share, numeric: true },
  { key: 'microBatch', label: 'Micro-batch', value: (worker) => worker.microBatch, numeric: true },
  { key: 'step', label: 'Step time', value: (worker) => worker.stepMilliseconds, numeric: true },
  { key: 'rate', label: 'Samples/s', value: (worker) => worker.samplesPerSecond, numeric: true },
  { key: 'accepted', label: 'Accepted', value: (worker) => worker.acceptedSamples, numeric: true },
  { key: 'refused', label: 'Refused', value: (worker) => worker.refusedContributions, numeric: true },
];

/** The public nickname, or what tells one anonymous volunteer from another. */
export function workerName(worker: Pick<Worker, 'id' | 'name'>): string {
  return worker.name === '' ? `Anonymous ${worker.id.slice(0, 4)}` : worker.name;
}

/** A sorted copy; equal ones keep the order in which they joined. */
export function sortWorkers(workers: readonly Worker[], order: Order): Worker[] {
  const value = columns.find(({ key }) => key === order.key)?.value;
  if (value === undefined) return [...workers];
  const sign = order.descending ? -1 : 1;
  return [...workers].sort((a, b) => {
    const left = value(a);
    const right = value(b);
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === 'string' && typeof right === 'string') return sign * left.localeCompare(right);
    return sign * (Number(left) - Number(right));
  });
}

/** Clicking a heading: numbers begin with the largest, words with A; again turns it round. */
export function nextOrder(order: Order, column: Column): Order {
  if (order.key !== column.key) return { key: column.key, descending: column.numeric };
  return { key: column.key, descending: !order.descending };
}
