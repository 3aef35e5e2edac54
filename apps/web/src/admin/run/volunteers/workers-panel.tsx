import type { Run } from '@tabweave/shared';
import { Users } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useWorkers } from '../../../api/queries.ts';
import { Card, EmptyState } from '../../../ui/index.ts';
import { DonateLinks } from '../../parts/donate-links.tsx';
import { QueryState } from '../../parts/query-state.tsx';
import { sortWorkers, type Order } from './sort-workers.ts';
import { WorkerCards } from './worker-cards.tsx';
import { WorkerTable } from './worker-table.tsx';

export function WorkersPanel({ run }: { run: Run }) {
  const query = useWorkers(run.id);
  const [order, setOrder] = useState<Order>({ key: 'share', descending: true });
  const workers = useMemo(() => sortWorkers(query.data ?? [], order), [query.data, order]);
  const open = run.status === 'running' || run.status === 'paused';
  return (
    <div className="grid gap-5">
      <QueryState query={query}>
        {() =>
          workers.length === 0 ? (
            <EmptyState icon={Users} title="No volunteers at the moment">
              {open
                ? 'Give out the donate link: a tab that opens it appears here within seconds.'
                : 'Volunteers join while a run is under way.'}
            </EmptyState>
          ) : (
            <Card>
              <div className="max-lg:hidden">
                <WorkerTable workers={workers} order={order} onOrder={setOrder} />
              </div>
              <div className="lg:hidden">
                <WorkerCards workers={workers} />
              </div>
            </Card>
          )
        }
      </QueryState>
      {open && (
        <Card title="Donate link of this run">
          <DonateLinks runId={run.id} />
        </Card>
      )}
    </div>
  );
}
