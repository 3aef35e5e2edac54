import { useEffect } from 'react';

export const wakeLockSupported = 'wakeLock' in navigator;

/** While `enabled`, the screen stays on; the browser lets go when the tab is hidden, and it is asked again after. */
export function useWakeLock(enabled: boolean): void {
  useEffect(() => {
    if (!enabled || !wakeLockSupported) return undefined;
    let over = false;
    let sentinel: WakeLockSentinel | null = null;
    const ask = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      const given = await navigator.wakeLock.request('screen');
      if (over) await given.release();
      else sentinel = given;
    };
    // Refused for example at a low battery: the screen then behaves as usual.
    const tryAsking = (): void => void ask().catch(() => undefined);
    tryAsking();
    document.addEventListener('visibilitychange', tryAsking);
    return () => {
      over = true;
      document.removeEventListener('visibilitychange', tryAsking);
      void sentinel?.release();
    };
  }, [enabled]);
}
