/** What is asked of this device, the choices, and Start. */
import type { PublicRun } from '@tabweave/shared';
import { useState } from 'react';
import { Alert, Button, Card } from '../../ui/index.ts';
import { Nickname, PowerOptions, StartOptions, type SettingsProperties } from '../controls/options.tsx';
import { ShareControl } from '../controls/share-control.tsx';
import { outlook } from '../device-words.ts';
import { passiveCheck } from '../passive-check.ts';
import { ForgetDevice } from './forget-device.tsx';
import { WhatRuns } from './what-runs.tsx';

interface Properties extends SettingsProperties {
  run: PublicRun;
  /** Null while it cannot start here. */
  onStart: (() => void) | null;
}

export function LendCard({ run, settings, onChange, onStart }: Properties) {
  const [check] = useState(passiveCheck);
  const { good, text } = outlook(check);
  return (
    <Card title="Lend this device">
      <div className="space-y-5">
        <WhatRuns parameters={run.model.parameters} />
        {good ? <p className="text-sm text-muted">{text}</p> : <Alert tone="warn">{text}</Alert>}
        {onStart === null ? null : (
          <div className="space-y-2">
            <Button tone="primary" size="large" className="w-full" data-testid="start" onClick={onStart}>
              Start
            </Button>
            <p className="text-center text-sm text-muted">Nothing runs before you press Start.</p>
          </div>
        )}
        <ShareControl share={settings.share} onChange={(share) => onChange({ share })} />
        <details>
          <summary className="cursor-pointer py-1 text-sm font-medium">More options</summary>
          <div className="mt-3 space-y-4">
            <Nickname settings={settings} onChange={onChange} />
            <PowerOptions settings={settings} onChange={onChange} />
            <StartOptions settings={settings} onChange={onChange} />
            <ForgetDevice />
          </div>
        </details>
      </div>
    </Card>
  );
}
