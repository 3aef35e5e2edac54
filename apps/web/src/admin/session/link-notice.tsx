import { useLinkState } from '../../api/live/live-context.tsx';
import { Alert } from '../../ui/index.ts';

/** Says when the live connection is gone, and that the page still follows by asking. */
export function LinkNotice() {
  if (useLinkState() !== 'polling') return null;
  return (
    <Alert tone="warn" className="mb-4" title="Live updates are interrupted">
      This page asks the server every few seconds and reconnects by itself. Training does not depend on it.
    </Alert>
  );
}
