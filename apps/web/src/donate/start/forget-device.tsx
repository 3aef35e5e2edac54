/** Consent can be taken back: what this browser remembers for the page is erased. */
import { useState } from 'react';
import { Button } from '../../ui/index.ts';
import { forgetIdentity } from '../../volunteer/identity.ts';
import { forgetSettings } from '../hooks/use-settings.ts';

export function ForgetDevice() {
  const [done, setDone] = useState(false);
  const forget = (): void => {
    forgetIdentity();
    forgetSettings();
    setDone(true);
  };
  return (
    <div className="space-y-1 text-sm">
      <Button tone="secondary" onClick={forget}>
        Forget this device
      </Button>
      <p className="text-muted" role="status">
        {done
          ? 'Forgotten: the next start is that of a new, unknown volunteer.'
          : 'This browser keeps your settings and a random number by which the server knows it again.'}
      </p>
    </div>
  );
}
