/** What a volunteer can copy into a report: plain text, without the identity's secret. */
import { protocolVersion, type DeviceProfile } from '@tabweave/shared';
import type { HostSnapshot } from '../volunteer/index.ts';
import { backendLine, type PassiveCheck } from './device-words.ts';

export function diagnostics(snapshot: HostSnapshot, browser: PassiveCheck & { userAgent: string }): string {
  const { status, state, totals } = snapshot;
  const device = state?.device;
  const failed = state?.selfTest?.checks.filter((check) => !check.passed) ?? [];
  const lines = [
    `Tabweave volunteer, protocol ${protocolVersion}`,
    `Browser: ${browser.userAgent}`,
    `Page: ${browser.secureContext ? 'secure' : 'not secure'}, WebGPU ${browser.webgpu ? 'offered' : 'not offered'}`,
    `Status: ${status.kind}${'why' in status ? ` (${status.why})` : ''}`,
    `Phase: ${state ? `${state.phase}: ${state.message}` : 'none'}`,
    ...(state?.notice ? [`Notice: ${state.notice.code}: ${state.notice.message}`] : []),
    ...(state?.problem ? [`Problem: ${state.problem.code}: ${state.problem.detail}`] : []),
    `Run: ${state?.run?.id ?? snapshot.runId ?? 'any'}`,
    ...(device
      ? [
          `Device: ${backendLine(device)}${device.software ? ', software adapter' : ''}`,
          ...(device.fallbackReason === '' ? [] : [`Fallback: ${device.fallbackReason}`]),
          `Memory ${device.memoryBytes}, largest buffer ${device.maxBufferBytes}, ${device.hardwareThreads} threads`,
          ...(device.profile ? [profileLine(device.profile)] : []),
          `Features: ${device.features.join(', ') || 'none'}`,
        ]
      : ['Device: not known yet']),
    `Self-test: ${state?.selfTest ? (state.selfTest.passed ? 'passed' : 'failed') : 'not run yet'}`,
    ...failed.map((check) => `  ${check.name}: ${check.detail}`),
    ...(state?.selfTest?.switchedOff ?? []).map(({ name, reason }) => `  ${name} switched off: ${reason}`),
    `Totals: ${JSON.stringify(totals)}`,
    'Events, newest first:',
    ...(state?.log ?? []).map(({ at, text }) => `  ${new Date(at).toISOString()} ${text}`),
  ];
  return lines.join('\n');
}

function profileLine({ flopsPerSecond, bytesPerSecond, launchMicroseconds }: DeviceProfile): string {
  const rate = `${(flopsPerSecond / 1e9).toPrecision(3)} GFLOP/s, ${(bytesPerSecond / 1e9).toPrecision(3)} GB/s`;
  return `Measured: ${rate}, ${launchMicroseconds.toFixed(0)} microseconds a launch`;
}
