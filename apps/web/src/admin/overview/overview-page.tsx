import type { Run } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Layers, Plus } from 'lucide-react';
import { useWatch } from '../../api/live/live-context.tsx';
import { useOverview, useRuns } from '../../api/queries.ts';
import {
  Card,
  EmptyState,
  PageHeader,
  Stat,
  StatList,
  buttonStyle,
  formatCompact,
  formatCount,
} from '../../ui/index.ts';
import { DonateLinks } from '../parts/donate-links.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { useTitle } from '../parts/use-title.ts';
import { RunRow } from './run-row.tsx';

export default function OverviewPage() {
  useTitle('Runs');
  useWatch(null);
  const runs = useRuns();
  const overview = useOverview();
  return (
    <>
      <PageHeader title="Runs" actions={<NewRunLink />} />
      <QueryState query={runs}>
        {(list) => (
          <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,1fr)_24rem]">
            <div className="grid gap-3">
              {list.length > 0 && <Totals runs={list} connected={overview.data?.workersConnected ?? null} />}
              {list.length === 0 ? <NoRuns /> : list.map((run) => <RunRow key={run.id} run={run} />)}
            </div>
            <Card title="Invite volunteers" description="Anyone who opens this link can donate compute.">
              <DonateLinks runId={null} />
              {overview.data && <p className="mt-4 text-sm text-muted">Tabweave {overview.data.version}</p>}
            </Card>
          </div>
        )}
      </QueryState>
    </>
  );
}

function NewRunLink() {
  return (
    <Link to="/admin/new" className={buttonStyle('primary')}>
      <Plus aria-hidden className="size-[1.15em]" />
      New run
    </Link>
  );
}

function Totals({ runs, connected }: { runs: readonly Run[]; connected: number | null }) {
  const running = runs.filter(({ status }) => status === 'running');
  const speed = running.reduce((sum, run) => sum + (run.tokensPerSecond ?? 0), 0);
  return (
    <Card>
      <StatList>
        <Stat label="Running" value={`${running.length} of ${runs.length}`} />
        <Stat label="Volunteers connected" value={formatCount(connected)} />
        <Stat label="Tokens per second" value={formatCompact(speed)} />
      </StatList>
    </Card>
  );
}

function NoRuns() {
  return (
    <EmptyState icon={Layers} title="No runs yet" action={<NewRunLink />}>
      Upload a text, choose a model size, and give out the link: every tab that opens it trains along.
    </EmptyState>
  );
}
