/** What a headless worker says on a terminal: each new condition once, and while it works a line now and then. */
import type { VolunteerPhase, VolunteerState } from '../session/index.ts';

const working: readonly VolunteerPhase[] = ['downloading', 'computing', 'uploading'];
const final: readonly VolunteerPhase[] = ['unsuitable', 'stopped', 'failed'];
/** Between two tasks a worker waits for a moment; only what lasts longer is worth a line. */
const settleMilliseconds = 1500;
const workMilliseconds = 10_000;

export class StatusLines {
  #told = '';
  #since = Number.NEGATIVE_INFINITY;
  #condition = '';
  #workedAt = Number.NEGATIVE_INFINITY;
  #device = false;

  /** @returns lines to print for `state`, seen at `now` (milliseconds). To be called with every state, and now and then. */
  next(state: VolunteerState, now: number): string[] {
    const lines: string[] = [];
    if (state.device && !this.#device) {
      this.#device = true;
      lines.push(deviceLine(state.device));
    }
    if (working.includes(state.phase) || state.phase === 'finishing') {
      this.#condition = '';
      this.#told = '';
      if (now - this.#workedAt >= workMilliseconds) {
        this.#workedAt = now;
        lines.push(workLine(state));
      }
      return lines;
    }
    if (state.message !== this.#condition) {
      this.#condition = state.message;
      this.#since = now;
    }
    const lasts = final.includes(state.phase) || now - this.#since >= settleMilliseconds;
    if (lasts && state.message !== this.#told) {
      this.#told = state.message;
      lines.push(state.message);
    }
    return lines;
  }
}

function deviceLine(device: NonNullable<VolunteerState['device']>): string {
  const adapter = device.adapter === '' ? '' : ` (${device.adapter})`;
  const fallback = device.fallbackReason === '' ? '' : `; ${device.fallbackReason}`;
  return `Computing with ${device.backend}${adapter}${fallback}.`;
}

function workLine(state: VolunteerState): string {
  const { task, run, lastTimings, acceptedSamples, acceptedContributions } = state;
  const where = run ? `${run.name}, ` : '';
  const version = task ? `version ${task.version}, ${task.samples} samples` : 'working';
  const times = lastTimings
    ? `; last: download ${Math.round(lastTimings.download)}, compute ${Math.round(lastTimings.compute)}, upload ${Math.round(lastTimings.upload)} ms`
    : '';
  return `${where}${version}; counted: ${acceptedSamples} samples in ${acceptedContributions} contributions${times}.`;
}
