import { Suspense, lazy } from 'react';
import { Pending } from './pending.tsx';

const DonatePage = lazy(() => import('../donate/donate-page.tsx'));

/** @param runId the run that the address names; null for any. */
export function DonateRoute({ runId }: { runId: string | null }) {
  return (
    <Suspense fallback={<Pending />}>
      <DonatePage runId={runId} />
    </Suspense>
  );
}
