import type { Run } from '@tabweave/shared';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useWatch } from '../../api/live/live-context.tsx';
import { useRun } from '../../api/queries.ts';
import { Alert, Announce, Card, PageHeader } from '../../ui/index.ts';
import { DonateLinks } from '../parts/donate-links.tsx';
import { QueryState } from '../parts/query-state.tsx';
import { RunProgress } from '../parts/run-progress.tsx';
import { RunStatusBadge } from '../parts/run-status.tsx';
import { useTitle } from '../parts/use-title.ts';
import { RunActions } from './run-actions.tsx';
import { RunSections } from './run-sections.tsx';
import { RunStats } from './run-stats.tsx';

const route = getRouteApi('/admin/runs/$runId');

export default function RunPage() {
  const { runId } = route.useParams();
  useWatch(runId);
  const run = useRun(runId);
  useTitle(run.data?.name ?? 'Run');
  return (
    <>
      {run.data === undefined && <PageHeader title="Run" back={<BackLink />} />}
      <QueryState query={run}>{(data) => <LoadedRun run={data} />}</QueryState>
    </>
  );
}

function BackLink() {
  return (
    <Link to="/admin" className="text-accent hover:underline">
      Runs
    </Link>
  );
}

function LoadedRun({ run }: { run: Run }) {
  const { tab = 'charts' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader
        title={run.name}
        description={run.description || undefined}
        badge={<RunStatusBadge status={run.status} />}
        back={<BackLink />}
        actions={<RunActions run={run} />}
      />
      <Announce>{`${run.name} is ${run.status}`}</Announce>
      <div className="grid gap-5">
        <Activity run={run} />
        <Card>
          <div className="mb-4">
            <RunProgress run={run} label="Progress" />
          </div>
          <RunStats run={run} />
        </Card>
        {tab === 'charts' && run.status === 'running' && run.workers === 0 && (
          <Card title="Invite volunteers" description="This run goes on as soon as somebody opens this link.">
            <DonateLinks runId={run.id} />
          </Card>
        )}
        <RunSections
          run={run}
          tab={tab}
          onTab={(next) =>
            void navigate({
              search: next === 'charts' ? {} : { tab: next },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
    </>
  );
}

/** What the run does or waits for; a halt is shown as what it is. */
function Activity({ run }: { run: Run }) {
  if (run.activity === '' || run.status === 'draft' || run.status === 'finished') return null;
  if (run.status === 'failed') {
    return (
      <Alert tone="bad" title="This run failed">
        {run.activity} Resume continues from the last committed step.
      </Alert>
    );
  }
  if (run.status === 'paused') {
    return (
      <Alert tone="warn" title="This run is paused">
        {run.activity}
      </Alert>
    );
  }
  // Changes many times a minute: not announced.
  return <p className="-mb-2 text-muted">{run.activity}</p>;
}
