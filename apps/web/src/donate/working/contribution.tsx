/** What this device has given. */
import { Card, Stat } from '../../ui/index.ts';
import type { HostSnapshot } from '../../volunteer/index.ts';
import { formatBytes, formatCount, formatDuration, formatMilliseconds } from '../format.ts';
import { useNow } from '../hooks/use-now.ts';

export function Contribution({ snapshot }: { snapshot: HostSnapshot }) {
  const { totals, startedAt, state } = snapshot;
  const now = useNow(true);
  const timings = state?.lastTimings ?? null;
  return (
    <Card title="My contribution">
      <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3">
        <Stat
          label="Samples counted"
          value={<span data-testid="accepted-samples">{formatCount(totals.acceptedSamples)}</span>}
        />
        <Stat
          label="Contributions"
          value={formatCount(totals.acceptedContributions)}
          hint={`accepted, ${formatCount(totals.refusedContributions)} refused`}
        />
        <Stat
          label="Since Start"
          value={startedAt === null ? '–' : formatDuration(now - startedAt)}
          hint={totals.restarts === 0 ? undefined : `${formatCount(totals.restarts)} fresh starts`}
        />
        <Stat label="Sent" value={formatBytes(totals.bytesUp)} />
        <Stat label="Received" value={formatBytes(totals.bytesDown)} />
      </dl>
      <p className="mt-4 text-sm text-muted">
        A sample counts once the server has checked it and used it in a step. Counted over all your visits
        with this browser.
      </p>
      {timings === null ? null : (
        <p className="mt-2 text-sm text-muted tabular">
          Last piece of work: {formatMilliseconds(timings.download)} download,{' '}
          {formatMilliseconds(timings.compute)} computing with rests, {formatMilliseconds(timings.upload)}{' '}
          sending.
        </p>
      )}
    </Card>
  );
}
