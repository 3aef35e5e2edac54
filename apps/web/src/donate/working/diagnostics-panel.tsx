/** For a report to whoever runs the server, or to us. */
import { useRef, useState } from 'react';
import { Button, controlStyle, cx } from '../../ui/index.ts';
import type { HostSnapshot } from '../../volunteer/index.ts';
import { diagnostics } from '../diagnostics.ts';
import { passiveCheck } from '../passive-check.ts';

export function Diagnostics({ snapshot }: { snapshot: HostSnapshot }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="cursor-pointer py-1 text-sm font-medium">Diagnostics</summary>
      {open ? <Text snapshot={snapshot} /> : null}
    </details>
  );
}

function Text({ snapshot }: { snapshot: HostSnapshot }) {
  const [check] = useState(passiveCheck);
  const [said, setSaid] = useState('');
  const area = useRef<HTMLTextAreaElement>(null);
  const text = diagnostics(snapshot, check);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied.');
    } catch {
      // No clipboard on insecure pages: the text is selected for the visitor.
      area.current?.select();
      setSaid('Selected: copy it with Ctrl+C.');
    }
  };
  return (
    <div className="mt-2 space-y-2">
      <p className="text-sm text-muted">
        Problems to report? Copy this. It tells of the browser, the device and the last events, and of nothing
        else.
      </p>
      <textarea
        ref={area}
        readOnly
        aria-label="Diagnostics"
        className={cx(controlStyle, 'h-48 font-mono text-xs')}
        value={text}
      />
      <div className="flex items-center gap-3">
        <Button onClick={() => void copy()}>Copy</Button>
        <span role="status" className="text-sm">
          {said}
        </span>
      </div>
    </div>
  );
}
