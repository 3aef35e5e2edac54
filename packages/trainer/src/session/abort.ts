/** Waiting that can be called off. */

/**
 * Resolves after `milliseconds`.
 * @throws the signal's reason, at once, when it is aborted before or meanwhile.
 */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(reasonOf(signal));
      return;
    }
    const aborted = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', aborted, { once: true });
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}

/** Lets messages in: an engine that computes on this thread would otherwise keep a cancellation waiting. */
export function breathe(signal: AbortSignal): Promise<void> {
  return sleep(0, signal);
}
