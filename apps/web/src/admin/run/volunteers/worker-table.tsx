import type { Worker } from '@tabweave/shared';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { cx, formatCount, formatDuration, formatNumber } from '../../../ui/index.ts';
import { ShareBar } from './share-bar.tsx';
import { columns, nextOrder, workerName, type Order } from './sort-workers.ts';
import { WorkerStateCell } from './worker-state.tsx';
import { backendWords, timeWords } from './worker-words.ts';

export interface WorkerTableProps {
  /** In the order shown. */
  workers: readonly Worker[];
  order: Order;
  onOrder: (order: Order) => void;
}

const cell = 'px-3 py-2.5 align-top';
const small = 'text-sm text-muted';

export function WorkerTable({ workers, order, onOrder }: WorkerTableProps) {
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div tabIndex={0} role="region" aria-label="Volunteers" className="overflow-x-auto">
      <table className="tabular w-full">
        <thead className="text-left text-sm">
          <tr className="border-b border-line">
            {columns.map((column) => {
              const sorted = order.key === column.key;
              const Arrow = order.descending ? ArrowDown : ArrowUp;
              const arrow = <Arrow aria-hidden className={cx('size-3.5', !sorted && 'invisible')} />;
              // Over numbers, which stand at the right; a share is a bar.
              const end = column.numeric && column.key !== 'share';
              return (
                <th
                  key={column.key}
                  scope="col"
                  aria-sort={sorted ? (order.descending ? 'descending' : 'ascending') : undefined}
                  className="p-0 font-medium whitespace-nowrap"
                >
                  <button
                    type="button"
                    className={cx(
                      'inline-flex min-h-9 w-full items-center gap-1 px-3 hover:text-text',
                      end && 'justify-end',
                      sorted ? 'text-text' : 'text-muted',
                    )}
                    onClick={() => onOrder(nextOrder(order, column))}
                  >
                    {end && arrow}
                    {column.label}
                    {!end && arrow}
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <WorkerRow key={worker.id} worker={worker} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function WorkerRow({ worker }: { worker: Worker }) {
  return (
    <tr className="border-b border-line last:border-0">
      <th scope="row" className={`${cell} text-left font-medium`}>
        {workerName(worker)}
      </th>
      <td className={cell}>
        <div className="max-w-64">{worker.adapter || '–'}</div>
        <div className={small}>{backendWords(worker)}</div>
      </td>
      <td className={cell}>
        <WorkerStateCell worker={worker} />
      </td>
      <td className={cell}>
        <ShareBar share={worker.share} />
      </td>
      <td className={`${cell} text-right`}>
        {formatCount(worker.microBatch)}
        <div className={`${small} whitespace-nowrap`}>up to {worker.passSize} at a time</div>
      </td>
      <td className={`${cell} text-right`}>
        {formatDuration(worker.stepMilliseconds)}
        <div className={`${small} whitespace-nowrap`}>{timeWords(worker)}</div>
      </td>
      <td className={`${cell} text-right`}>{formatNumber(worker.samplesPerSecond)}</td>
      <td className={`${cell} text-right`}>{formatCount(worker.acceptedSamples)}</td>
      <td className={`${cell} text-right`}>{formatCount(worker.refusedContributions)}</td>
    </tr>
  );
}
