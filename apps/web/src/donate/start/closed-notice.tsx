/** Why the volunteer does not run any more, or not here, and what can be done. */
import { Alert, Button } from '../../ui/index.ts';
import type { HostSnapshot } from '../../volunteer/index.ts';
import { formatCount, formatDuration } from '../format.ts';
import { useFocusOnMount } from '../hooks/use-focus-on-mount.ts';
import { headline } from '../headline.ts';

interface Properties {
  snapshot: HostSnapshot;
  onTakeOver: () => void;
}

/** Takes the focus: it stands where the control was that ended the work. */
export function ClosedNotice(properties: Properties) {
  const place = useFocusOnMount<HTMLDivElement>();
  return (
    <div ref={place} tabIndex={-1} className="outline-none">
      <Notice {...properties} />
    </div>
  );
}

function Notice({ snapshot, onTakeOver }: Properties) {
  const { kind } = snapshot.status;
  const { title, reason } = headline(snapshot);
  switch (kind) {
    case 'elsewhere':
    case 'taken-over':
      return (
        <Alert tone="warn" title={title}>
          <p>{reason}</p>
          <Button className="mt-3" data-testid="take-over" onClick={onTakeOver}>
            Work in this tab instead
          </Button>
        </Alert>
      );
    case 'reload':
      return (
        <Alert tone="warn" title={title}>
          <p>The server has been updated since this page was loaded. {reason}</p>
          <Button className="mt-3" data-testid="reload" onClick={() => location.reload()}>
            Reload the page
          </Button>
        </Alert>
      );
    case 'given-up':
      return (
        <Alert tone="bad" title={title}>
          {reason}
        </Alert>
      );
    default:
      return (
        <Alert
          tone={reason === '' ? 'good' : 'warn'}
          title={reason === '' ? 'Stopped. Thank you!' : 'Stopped'}
        >
          {reason === '' ? null : <p>{reason}</p>}
          <p>{thanks(snapshot)}</p>
        </Alert>
      );
  }
}

function thanks({ totals, startedAt, endedAt }: HostSnapshot): string {
  const { acceptedSamples } = totals;
  if (acceptedSamples === 0)
    return 'No sample was counted this time. You can close this tab, or start again.';
  const time = startedAt !== null && endedAt !== null ? ` after ${formatDuration(endedAt - startedAt)}` : '';
  return `${formatCount(acceptedSamples)} samples of this device have been counted so far. You stopped${time}; close this tab, or start again.`;
}
