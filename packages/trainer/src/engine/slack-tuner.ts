/**
 * Tuning of matrix products between contributions: a device that has worked for a while may spend a share of that time
 * on finding faster tiles. What is found is kept for later visits on the same adapter.
 */
import {
  rememberTiles,
  tileChoices,
  tuneTiles,
  type KernelRuntime,
  type TileChoices,
} from '@tabweave/kernels';

/** Where choices outlive the page. Failures are passed over: they cost a new measurement. */
export interface TileStore {
  read(adapter: string): Promise<TileChoices | undefined>;
  write(adapter: string, choices: TileChoices): Promise<void>;
}

/** Of the time spent on passes. */
const share = 0.1;
/** Milliseconds: less is not worth beginning, more would hold up a contribution. */
const [least, most] = [100, 500];

export class SlackTuner {
  readonly #runtime: KernelRuntime;
  readonly #adapter: string;
  readonly #store: TileStore | undefined;
  #slack = 0;

  constructor(runtime: KernelRuntime, adapter: string, store: TileStore | undefined) {
    this.#runtime = runtime;
    this.#adapter = adapter;
    this.#store = store;
  }

  async recall(): Promise<void> {
    const kept = await this.#tried((store) => store.read(this.#adapter));
    if (kept) rememberTiles(this.#runtime, kept);
  }

  /** Milliseconds that a pass has taken. */
  worked(milliseconds: number): void {
    this.#slack += share * milliseconds;
  }

  /** @param changed is called where a choice has changed, and makes use of it; its time counts. */
  async tune(changed: () => Promise<void>): Promise<void> {
    if (this.#slack < least) return;
    const began = performance.now();
    const before = Object.keys(tileChoices(this.#runtime)).length;
    if (await tuneTiles(this.#runtime, Math.min(this.#slack, most))) await changed();
    this.#slack -= performance.now() - began;
    const choices = tileChoices(this.#runtime);
    if (Object.keys(choices).length > before) {
      await this.#tried((store) => store.write(this.#adapter, choices));
    }
  }

  async #tried<T>(use: (store: TileStore) => Promise<T>): Promise<T | undefined> {
    try {
      return this.#store && (await use(this.#store));
    } catch {
      return undefined;
    }
  }
}
