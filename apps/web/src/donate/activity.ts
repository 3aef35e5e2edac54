/** What the present task is at, for the line under the headline. */
import type { VolunteerState } from '@tabweave/trainer';

export const stages = ['download', 'compute', 'send'] as const;
export type Stage = (typeof stages)[number];

const stageOf: Partial<Record<VolunteerState['phase'], Stage>> = {
  downloading: 'download',
  computing: 'compute',
  uploading: 'send',
};

export interface Activity {
  /** Null between two tasks. */
  stage: Stage | null;
  text: string;
  /** Of the present task's samples, in [0, 1]. */
  done: number;
}

/** Null while no task can come: paused, not connected, stopped. */
export function activity(state: VolunteerState): Activity | null {
  const stage = stageOf[state.phase] ?? null;
  const { task } = state;
  if (stage === null || task === null) {
    return state.phase === 'waiting' ? { stage: null, text: 'Ready for the next task', done: 0 } : null;
  }
  // Version v goes into the step that makes version v + 1.
  const step = task.kind === 'train' ? `Step ${task.version + 1}` : `Check of step ${task.version}`;
  const samples =
    stage === 'compute' ? `sample ${task.samplesDone} of ${task.samples}` : `${task.samples} samples`;
  const doing = { download: 'fetching the model', compute: samples, send: `sending ${samples}` }[stage];
  return { stage, text: `${step}: ${doing}`, done: task.samples === 0 ? 0 : task.samplesDone / task.samples };
}
