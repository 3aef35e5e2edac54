/** One screen before anything runs: what is trained, what it asks of this device, and Start. */
import type { PublicRun } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Alert, Button, Card } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';
import { Nickname, PowerOptions, StartOptions, type SettingsProperties } from '../controls/options.tsx';
import { ShareControl } from '../controls/share-control.tsx';
import { outlook } from '../device-words.ts';
import { passiveCheck } from '../passive-check.ts';
import { RunFacts } from '../run/run-facts.tsx';
import { RunSoFar } from '../run/run-so-far.tsx';
import { ClosedNotice } from './closed-notice.tsx';
import { ForgetDevice } from './forget-device.tsx';
import { WhatRuns } from './what-runs.tsx';

interface Properties extends SettingsProperties {
  snapshot: HostSnapshot;
  run: PublicRun;
  /** The address names the run: there may be others. */
  chosen: boolean;
}

export function BeforeStart({ snapshot, run, chosen, settings, onChange }: Properties) {
  const [check] = useState(passiveCheck);
  const { good, text } = outlook(check);
  const over = run.status === 'finished' || run.status === 'stopped' || run.status === 'failed';
  const { kind } = snapshot.status;
  const elsewhere = kind === 'elsewhere' || kind === 'taken-over';
  const start = (takeOver: boolean): void =>
    void volunteer.start(
      {
        url: location.origin,
        runId: run.id,
        name: settings.nickname,
        dutyCycle: settings.share / 100,
        backend: settings.backend,
      },
      { pauseOnBattery: settings.pauseOnBattery, takeOver },
    );
  return (
    <div className="grid gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:grid-rows-[auto_1fr] lg:items-start">
      <div className="space-y-4">
        {chosen ? (
          <Link to="/" className="inline-block min-h-6 text-sm underline">
            All runs that need help
          </Link>
        ) : null}
        <RunFacts run={run} />
      </div>
      <div className="space-y-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
        <ClosedNotice snapshot={snapshot} onTakeOver={() => start(true)} />
        <Card title="Lend this device">
          <div className="space-y-5">
            <WhatRuns parameters={run.model.parameters} />
            {good ? <p className="text-sm text-muted">{text}</p> : <Alert tone="warn">{text}</Alert>}
            {over ? (
              <Alert tone="info">This run has ended, so there is nothing to compute for it any more.</Alert>
            ) : elsewhere ? null : (
              <div className="space-y-2">
                <Button
                  tone="primary"
                  size="large"
                  className="w-full"
                  data-testid="start"
                  onClick={() => start(false)}
                >
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
      </div>
      <RunSoFar run={run} />
    </div>
  );
}
