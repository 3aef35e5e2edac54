import type { Worker } from '@tabweave/shared';
import { formatCount, formatDuration, formatNumber } from '../../../ui/index.ts';
import { ShareBar } from './share-bar.tsx';
import { workerName } from './sort-workers.ts';
import { WorkerStateCell } from './worker-state.tsx';
import { backendWords, timeWords } from './worker-words.ts';

/** The table's contents for narrow screens. */
export function WorkerCards({ workers }: { workers: readonly Worker[] }) {
  return (
    <ul className="grid gap-3">
      {workers.map((worker) => (
        <li key={worker.id} className="rounded-lg border border-line p-3">
          <div className="flex flex-wrap items-start justify-between gap-2">
            <p className="font-medium">{workerName(worker)}</p>
            <WorkerStateCell worker={worker} />
          </div>
          <p className="text-sm text-muted">
            {worker.adapter === '' ? '' : `${worker.adapter}; `}
            {backendWords(worker)}
          </p>
          <dl className="tabular mt-2 grid grid-cols-2 gap-2 text-sm">
            <Item label="Share">
              <ShareBar share={worker.share} />
            </Item>
            <Item label="Micro-batch">
              {formatCount(worker.microBatch)}, up to {worker.passSize} at a time
            </Item>
            <Item label="Step time">
              {formatDuration(worker.stepMilliseconds)}
              <span className="block text-muted">{timeWords(worker)}</span>
            </Item>
            <Item label="Samples/s">{formatNumber(worker.samplesPerSecond)}</Item>
            <Item label="Accepted samples">{formatCount(worker.acceptedSamples)}</Item>
            <Item label="Refused contributions">{formatCount(worker.refusedContributions)}</Item>
          </dl>
        </li>
      ))}
    </ul>
  );
}

function Item({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div>
      <dt className="text-muted">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
