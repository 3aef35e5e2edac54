/** Contributions on their way in: frames put together in memory, all uploads together under one bound. */
import { ProblemError, frameCount, limits, type Frame } from '@tabweave/shared';

/** Memory that all uploads share; whoever does not fit waits in line, which is the sender's back-pressure. */
export class UploadBudget {
  #free: number;
  readonly #capacity: number;
  readonly #waiting: { bytes: number; grant: () => void }[] = [];

  constructor(capacity: number = limits.uploadBytesInFlight) {
    this.#capacity = capacity;
    this.#free = capacity;
  }

  get bytesInUse(): number {
    return this.#capacity - this.#free;
  }

  /** Resolves with the function that gives the memory back. One upload larger than all of it is let in alone. */
  acquire(bytes: number): Promise<() => void> {
    const need = Math.min(bytes, this.#capacity);
    return new Promise((resolve) => {
      const grant = (): void => {
        this.#free -= need;
        let held = true;
        resolve(() => {
          if (!held) return;
          held = false;
          this.#free += need;
          this.#serve();
        });
      };
      this.#waiting.push({ bytes: need, grant });
      this.#serve();
    });
  }

  #serve(): void {
    for (let first = this.#waiting[0]; first && first.bytes <= this.#free; first = this.#waiting[0]) {
      this.#waiting.shift();
      first.grant();
    }
  }
}

export class Upload {
  readonly lease: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly #frames: number;
  readonly #seen: Uint8Array;
  #received = 0;

  constructor(lease: number, bytes: number) {
    this.lease = lease;
    this.bytes = new Uint8Array(bytes);
    this.#frames = frameCount(bytes);
    this.#seen = new Uint8Array(this.#frames);
  }

  /** A repeated frame is taken once. @throws ProblemError when the frame does not belong here. */
  take(frame: Frame): void {
    const refuse = (why: string): never => {
      throw new ProblemError(
        'INVALID_CONTRIBUTION',
        `Frame ${frame.index} does not fit this upload: ${why}.`,
      );
    };
    if (frame.lease !== this.lease) refuse(`it is of lease ${frame.lease}, not ${this.lease}`);
    if (frame.count !== this.#frames) refuse(`${frame.count} frames, not ${this.#frames}`);
    const start = frame.index * limits.frameBytes;
    const expected = Math.min(limits.frameBytes, this.bytes.byteLength - start);
    if (frame.payload.byteLength !== expected) refuse(`${frame.payload.byteLength} bytes, not ${expected}`);
    if (this.#seen[frame.index] === 1) return;
    this.bytes.set(frame.payload, start);
    this.#seen[frame.index] = 1;
    this.#received++;
  }

  /** @throws ProblemError when frames are missing. */
  finish(): Uint8Array<ArrayBuffer> {
    if (this.#received < this.#frames) {
      throw new ProblemError(
        'INVALID_CONTRIBUTION',
        `The upload is not whole: ${this.#received} of ${this.#frames} frames have arrived.`,
      );
    }
    return this.bytes;
  }
}
