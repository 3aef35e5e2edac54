/**
 * One tab per device works. Web Locks where they exist (secure pages); on plain HTTP, where they do not, tabs ask each
 * other over a BroadcastChannel.
 */

const name = 'tabweave.volunteer';
/** How long a tab waits for the answer of one that works. Longer than a busy page takes to answer. */
const answerMilliseconds = 500;

export interface DeviceLock {
  /** Resolves when another tab has taken over. */
  readonly lost: Promise<void>;
  /** Resolves when another tab can have it. */
  release(): Promise<void>;
}

/**
 * @param take take it from the tab that has it.
 * @returns null when another tab has it and `take` is false.
 */
export async function acquireDeviceLock(take: boolean): Promise<DeviceLock | null> {
  try {
    // Checked at run time: the type does not know of insecure pages.
    if ('locks' in navigator) return await byWebLock(navigator.locks, take);
  } catch {
    // Refused where storage is blocked; the channel may still work.
  }
  return byChannel(take);
}

/** @param locks injected, so that it runs on the lock manager of any platform. */
export function byWebLock(locks: LockManager, take: boolean): Promise<DeviceLock | null> {
  return new Promise((resolve, reject) => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    const over = locks
      .request(name, take ? { steal: true } : { ifAvailable: true }, (lock) => {
        if (lock === null) {
          resolve(null);
          return undefined;
        }
        resolve({
          lost,
          release: () => {
            release();
            return over;
          },
        });
        return released;
      })
      .catch((error: unknown) => {
        // A stolen lock ends its request with an AbortError.
        if (error instanceof DOMException && error.name === 'AbortError') lose();
        else reject(error instanceof Error ? error : new Error(String(error)));
      });
  });
}

type Word = { tab: string; says: 'who' | 'me' | 'mine-now' };

/** Without Web Locks: the tab that works answers `who`, and yields to `mine-now`. */
export async function byChannel(
  take: boolean,
  answerWithin = answerMilliseconds,
): Promise<DeviceLock | null> {
  const tab = `${Date.now()}-${Math.random()}`;
  const channel = new BroadcastChannel(name);
  const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
  const say = (says: Word['says']): void => channel.postMessage({ tab, says } satisfies Word);
  if (!take && (await answered(channel, say, answerWithin))) {
    channel.close();
    return null;
  }
  channel.onmessage = ({ data }: MessageEvent<Word>) => {
    if (data.says === 'who') say('me');
    if (data.says === 'mine-now') {
      channel.close();
      lose();
    }
  };
  // Also without `take`: of two tabs that began at the same moment the later one works.
  say('mine-now');
  return { lost, release: async () => channel.close() };
}

function answered(channel: BroadcastChannel, say: (says: 'who') => void, within: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), within);
    channel.onmessage = ({ data }: MessageEvent<Word>) => {
      if (data.says !== 'me') return;
      clearTimeout(timer);
      resolve(true);
    };
    say('who');
  });
}
