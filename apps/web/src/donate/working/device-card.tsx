/** The device, as the worker found it, and whether it computes correctly. */
import type { DeviceProfile, DeviceReport, SelfTestReport } from '@tabweave/shared';
import type { VolunteerState } from '@tabweave/trainer';
import { Alert, Card } from '../../ui/index.ts';
import { backendLine } from '../device-words.ts';
import { formatBytes, formatMilliseconds, formatRate } from '../format.ts';

export function DeviceCard({ state }: { state: VolunteerState | null }) {
  const device = state?.device ?? null;
  return (
    <Card title="This device">
      <div className="space-y-3">
        <p data-testid="backend" className="break-words">
          {device === null ? 'Looking for the fastest way to compute…' : backendLine(device)}
        </p>
        {device === null ? null : <Limits device={device} />}
        <SelfTest report={state?.selfTest ?? null} />
      </div>
    </Card>
  );
}

function Limits({ device }: { device: DeviceReport }) {
  const usesGpu = device.backend === 'webgpu' || device.backend === 'webgl';
  return (
    <>
      {usesGpu && device.software ? (
        <Alert tone="warn" title="No GPU behind it">
          The browser draws with the CPU here (a software adapter). It works, slowly. Hardware acceleration
          may be switched off in the browser's settings.
        </Alert>
      ) : null}
      {usesGpu ? null : <p className="text-sm text-muted">It computes on the CPU, slower than on a GPU.</p>}
      {device.fallbackReason === '' ? null : (
        <Alert tone="warn" title="A faster way is not available">
          {device.fallbackReason}
        </Alert>
      )}
      <p className="text-sm text-muted">
        Up to {formatBytes(device.memoryBytes)} of memory for a run, {device.hardwareThreads} processor
        threads.
        {device.profile ? ` Measured: ${speed(device.profile)}.` : ''}
      </p>
    </>
  );
}

function SelfTest({ report }: { report: SelfTestReport | null }) {
  if (report === null) return null;
  const failed = report.checks.filter((check) => !check.passed);
  if (report.passed) {
    return (
      <>
        <p className="text-sm text-muted">
          Self-test passed: {report.checks.length} checks in {formatMilliseconds(report.milliseconds)}.
        </p>
        {report.switchedOff.length === 0 ? null : (
          <Alert tone="warn" title="Slower in parts">
            This device's driver gets {names(report.switchedOff)} wrong. They run in a plainer, slower form,
            so results are right. An updated driver or browser may help.
          </Alert>
        )}
      </>
    );
  }
  return (
    <Alert tone="bad" title="The self-test found wrong results">
      <ul className="list-disc pl-5">
        {failed.map((check) => (
          <li key={check.name}>
            {check.name}
            {check.detail === '' ? '' : `: ${check.detail}`}
          </li>
        ))}
      </ul>
    </Alert>
  );
}

function speed({ flopsPerSecond, bytesPerSecond }: DeviceProfile): string {
  return `${formatRate(flopsPerSecond)} in matrix products, ${formatBytes(bytesPerSecond)}/s of memory`;
}

function names(switchedOff: SelfTestReport['switchedOff']): string {
  return switchedOff.map(({ name }) => name).join(', ');
}
