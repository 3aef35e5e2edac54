/** Work on the same key one after another, on different keys side by side. */
export class KeyedQueue {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `action` when all earlier work on `key` is over, whether that succeeded or not. */
  run<T>(key: string, action: () => Promise<T>): Promise<T> {
    const result = (this.#tails.get(key) ?? Promise.resolve()).then(action);
    const tail: Promise<void> = result.then(
      () => this.#forget(key, tail),
      () => this.#forget(key, tail),
    );
    this.#tails.set(key, tail);
    return result;
  }

  #forget(key: string, tail: Promise<void>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}
