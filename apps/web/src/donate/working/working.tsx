/** The page while this tab works: the control, what it does, what it gave, and the run. */
import type { PublicRun } from '@tabweave/shared';
import { Link } from '@tanstack/react-router';
import { Alert, Card } from '../../ui/index.ts';
import { volunteer, type HostSnapshot } from '../../volunteer/index.ts';
import { PowerOptions, type SettingsProperties } from '../controls/options.tsx';
import { ShareControl } from '../controls/share-control.tsx';
import { headline } from '../headline.ts';
import { useTabTitle, workingTitle } from '../hooks/use-tab-title.ts';
import { useWakeLock } from '../hooks/use-wake-lock.ts';
import type { Settings } from '../settings.ts';
import { RunChart } from '../run/run-chart.tsx';
import { RunSummary } from '../run/run-summary.tsx';
import { Contribution } from './contribution.tsx';
import { ControlCard } from './control-card.tsx';
import { DeviceCard } from './device-card.tsx';
import { Diagnostics } from './diagnostics-panel.tsx';

interface Properties extends SettingsProperties {
  snapshot: HostSnapshot;
  run: PublicRun;
  /** The run that the address names. */
  asked: string | null;
}

export function Working({ snapshot, run, settings, onChange, asked }: Properties) {
  const head = headline(snapshot);
  // A choice holds at once.
  const change = (part: Partial<Settings>): void => {
    onChange(part);
    if (part.share !== undefined) volunteer.setDutyCycle(part.share / 100);
    if (part.pauseOnBattery !== undefined) volunteer.setPauseOnBattery(part.pauseOnBattery);
  };
  const paused = snapshot.state?.phase === 'paused';
  useWakeLock(settings.keepAwake && !paused);
  useTabTitle(workingTitle(head, run.name));
  return (
    <div className="grid gap-6 lg:grid-cols-2 lg:items-start">
      <div className="space-y-6">
        {asked !== null && asked !== run.id ? (
          <Alert tone="info">
            This tab works for “{run.name}”, not for the run of this link. To change over, finish first.{' '}
            <Link to="/donate/$runId" params={{ runId: run.id }} className="underline">
              Hide this
            </Link>
          </Alert>
        ) : null}
        <ControlCard
          snapshot={snapshot}
          head={head}
          onWorkOnBattery={() => change({ pauseOnBattery: false })}
        />
        <Contribution snapshot={snapshot} />
        <DeviceCard state={snapshot.state} />
      </div>
      <div className="space-y-6">
        <RunSummary run={run} />
        <RunChart run={run} />
        <Card title="Settings">
          <div className="space-y-5">
            <ShareControl share={settings.share} onChange={(share) => change({ share })} />
            <PowerOptions settings={settings} onChange={change} />
          </div>
        </Card>
        <Diagnostics snapshot={snapshot} />
      </div>
    </div>
  );
}
