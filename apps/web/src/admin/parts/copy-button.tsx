import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Button } from '../../ui/index.ts';

/** Copies a text and says so. `label` names what is copied. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), 3000);
    return () => clearTimeout(timer);
  }, [outcome]);
  return (
    <>
      <Button
        size="small"
        icon={outcome === 'copied' ? Check : Copy}
        onClick={() => void copy(text).then((done) => setOutcome(done ? 'copied' : 'failed'))}
      >
        {outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Select and copy it' : label}
      </Button>
      <span role="status" className="sr-only">
        {outcome === 'copied' ? 'Copied' : ''}
      </span>
    </>
  );
}

/** The clipboard exists only in secure contexts; over plain HTTP a hidden text area does. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    // Deprecated, and the only way without a secure context.
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}
