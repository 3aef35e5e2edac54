/** Workers of good and bad behaviour around a model of the driver, in virtual time. */
import type { Random } from '@tabweave/shared';
import type { Model, ModelLease } from './model.ts';

export const misdeeds = [
  'silent',
  'late',
  'cancels',
  'fails',
  'out-of-memory',
  'device-lost',
  'poison',
  'leaves',
  'chatty',
] as const;
export type Behaviour = 'able' | (typeof misdeeds)[number];

const samplesPerMillisecond = 1 / 20;
const restartMilliseconds = 30;
const storeMilliseconds = 3;

interface Planned {
  at: number;
  act: () => void;
}

export class Swarm {
  readonly model: Model;
  readonly #random: Random;
  readonly #behaviours: Map<string, Behaviour>;
  readonly #seen = new Set<number>();
  #agenda: Planned[] = [];

  constructor(model: Model, behaviours: Map<string, Behaviour>, random: Random) {
    this.model = model;
    this.#behaviours = behaviours;
    this.#random = random;
  }

  /** Runs to the end of the run. @returns its virtual milliseconds. @throws when it takes longer than `limit`. */
  run(limit: number): number {
    const { model } = this;
    model.feed({ type: 'run-opened', version: 0, evaluated: false });
    model.join(...this.#behaviours.keys());
    while (!model.complete) {
      this.#react();
      const tick = model.coordinator.nextTick() ?? Infinity;
      const next = this.#agenda.reduce<Planned | null>((a, b) => (a && a.at <= b.at ? a : b), null);
      model.now = Math.max(model.now, Math.min(tick, next?.at ?? Infinity));
      if (model.now > limit) throw new Error(`no end in sight: ${JSON.stringify(model.coordinator.view())}`);
      if (next && next.at <= tick) {
        this.#agenda = this.#agenda.filter((planned) => planned !== next);
        next.act();
      } else {
        model.feed({ type: 'tick' });
      }
    }
    return model.now;
  }

  #later(milliseconds: number, act: () => void): void {
    this.#agenda.push({ at: this.model.now + milliseconds, act });
  }

  /** Each new lease sets its worker to what it is wont to do. */
  #react(): void {
    if (this.model.committing) this.#later(storeMilliseconds, () => this.model.commit());
    for (const [lease, live] of this.model.live) {
      if (this.#seen.has(lease)) continue;
      this.#seen.add(lease);
      this.#begin(lease, live);
    }
  }

  #begin(lease: number, { worker, task }: ModelLease): void {
    const { model } = this;
    const count = task.samples.end - task.samples.start;
    const milliseconds = (count / samplesPerMillisecond) * (0.8 + 0.4 * this.#random.uniform());
    const soon = milliseconds * this.#random.uniform();
    const held = (): boolean => model.live.get(lease)?.takenIn === false;
    const contribute = (accepted: boolean): void => {
      if (model.offer(worker, lease)?.type !== 'accept-contribution') return;
      this.#later(storeMilliseconds, () =>
        model.report(lease, accepted, { ...timings, computeMilliseconds: milliseconds }),
      );
    };
    const timings = { downloadMilliseconds: 2, computeMilliseconds: 0, uploadMilliseconds: 2, cold: false };
    switch (this.#behaviours.get(worker) ?? 'able') {
      case 'able':
        this.#later(milliseconds, () => contribute(true));
        return;
      case 'silent':
        return;
      case 'late':
        this.#later(model.config.lease.maximumMilliseconds, () => contribute(true));
        return;
      case 'chatty':
        for (let at = 50; at < 5000; at += 50) {
          this.#later(at, () => model.feed({ type: 'task-progress', worker, lease }));
        }
        return;
      case 'cancels':
        this.#later(soon, () => held() && model.fail(worker, 'cancelled'));
        return;
      case 'fails':
        this.#later(soon, () => held() && model.fail(worker, 'internal'));
        return;
      case 'out-of-memory':
        this.#later(soon, () => held() && model.fail(worker, 'out-of-memory'));
        return;
      case 'device-lost':
        this.#later(soon, () => {
          if (!held()) return;
          model.fail(worker, 'device-lost');
          model.leave(worker);
          this.#later(restartMilliseconds, () => model.join(worker));
        });
        return;
      case 'poison':
        this.#later(soon, () => contribute(task.kind === 'evaluate'));
        return;
      case 'leaves':
        this.#later(soon, () => {
          if (!held()) return;
          model.leave(worker);
          this.#later(restartMilliseconds, () => model.join(worker));
        });
        return;
    }
  }
}
