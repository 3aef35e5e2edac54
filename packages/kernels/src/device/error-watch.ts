/**
 * Hears of every error of a device. The event `uncapturederror` may come long after `onSubmittedWorkDone` has said that
 * the work is done (seen in Chromium 156), when what the work gave is on its way already. Error scopes answer in order:
 * so all work stands in scopes, which are closed, read and opened again where it matters. The event hears the rest.
 */
export interface DeviceError {
  kind: 'out-of-memory' | 'shader' | 'validation';
  message: string;
}

const filters = ['internal', 'out-of-memory', 'validation'] as const;

export class ErrorWatch {
  readonly #device: GPUDevice;
  readonly #errors: DeviceError[] = [];

  constructor(device: GPUDevice) {
    this.#device = device;
    device.addEventListener('uncapturederror', (event) => {
      event.preventDefault();
      this.#errors.push(describe(event.error));
    });
    this.#open();
  }

  /** The errors since the last call, of all that was asked of the device before this one: the first of each filter. */
  async take(): Promise<DeviceError[]> {
    // A device that is lost has no scopes any more; the loss is told elsewhere.
    const closed = filters.map(() => this.#device.popErrorScope().catch(() => null));
    this.#open();
    for (const error of await Promise.all(closed)) if (error) this.#errors.push(describe(error));
    return this.#errors.splice(0);
  }

  #open(): void {
    for (const filter of filters) this.#device.pushErrorScope(filter);
  }
}

function describe(error: GPUError): DeviceError {
  const { message } = error;
  if (error.constructor.name === 'GPUOutOfMemoryError') return { kind: 'out-of-memory', message };
  const shader = /shader|wgsl|pipeline/i.test(message);
  return { kind: shader ? 'shader' : 'validation', message };
}
