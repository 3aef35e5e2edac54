/**
 * How many frames may be on their way at one time. The socket's heartbeat queues behind them, and the server hangs up
 * when it is late, so on a slow line fewer are sent: additive increase while acknowledgements come soon, halved when
 * they come late (as TCP does with its window, RFC 5681).
 */
import { limits } from '@tabweave/shared';

const soonMilliseconds = 1500;
const lateMilliseconds = 5000;

export class SendWindow {
  #size = 2;

  get size(): number {
    return this.#size;
  }

  /** @param milliseconds from sending a frame to its acknowledgement. */
  acknowledged(milliseconds: number): void {
    if (milliseconds < soonMilliseconds) this.#size = Math.min(limits.framesInFlight, this.#size + 1);
    else if (milliseconds > lateMilliseconds) this.congested();
  }

  /** The receiver asks for less. */
  congested(): void {
    this.#size = Math.max(1, Math.floor(this.#size / 2));
  }
}
