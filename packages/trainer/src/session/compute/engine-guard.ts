/** Ends waiting for a device that is gone: its promises may never settle. */
import type { Engine, EngineError } from '../../engine/engine.ts';

export class EngineGuard {
  readonly #waiting = new Set<(error: EngineError) => void>();
  #lost: EngineError | null = null;

  constructor(engine: Pick<Engine, 'lost'>) {
    // One listener for the engine's life: one per wait would pile up on a promise that may never settle.
    void engine.lost.then((error) => {
      this.#lost = error;
      for (const reject of this.#waiting) reject(error);
      this.#waiting.clear();
    });
  }

  /** The result of `work`. @throws the engine's loss, as soon as it is known, if that comes first. */
  whileAlive<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#lost) {
        work.catch(() => undefined);
        reject(this.#lost);
        return;
      }
      this.#waiting.add(reject);
      const done = (): void => void this.#waiting.delete(reject);
      work.then(
        (value) => {
          done();
          resolve(value);
        },
        (error: unknown) => {
          done();
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  }
}
