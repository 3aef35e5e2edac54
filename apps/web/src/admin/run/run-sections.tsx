import type { Run } from '@tabweave/shared';
import { Tabs } from 'radix-ui';
import { Suspense, lazy } from 'react';
import { Pending } from '../../router/pending.tsx';
import { RunCharts } from './charts/run-charts.tsx';
import { DetailsPanel } from './details/details-panel.tsx';
import { isRunTab, runTabs, type RunTab } from './run-tabs.ts';
import { WorkersPanel } from './volunteers/workers-panel.tsx';

const Playground = lazy(() => import('../../playground/playground.tsx'));

export function RunSections({ run, tab, onTab }: { run: Run; tab: RunTab; onTab: (tab: RunTab) => void }) {
  const labels: Record<RunTab, string> = {
    charts: 'Charts',
    volunteers: `Volunteers (${run.workers})`,
    playground: 'Playground',
    details: 'Details',
  };
  return (
    <Tabs.Root value={tab} onValueChange={(value) => isRunTab(value) && onTab(value)}>
      <Tabs.List
        aria-label="Parts of this run"
        className="mb-4 flex gap-0.5 overflow-x-auto border-b border-line [scrollbar-width:none]"
      >
        {runTabs.map((value) => (
          <Tabs.Trigger
            key={value}
            value={value}
            className="-mb-px min-h-10 shrink-0 border-b-2 border-transparent px-2 text-muted -outline-offset-2! hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text max-sm:text-sm sm:px-4"
          >
            {labels[value]}
          </Tabs.Trigger>
        ))}
      </Tabs.List>
      <Tabs.Content value="charts">
        <RunCharts run={run} />
      </Tabs.Content>
      <Tabs.Content value="volunteers">
        <WorkersPanel run={run} />
      </Tabs.Content>
      <Tabs.Content value="playground">
        <Suspense fallback={<Pending />}>
          <Playground run={run} />
        </Suspense>
      </Tabs.Content>
      <Tabs.Content value="details">
        <DetailsPanel run={run} />
      </Tabs.Content>
    </Tabs.Root>
  );
}
