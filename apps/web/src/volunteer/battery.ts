/** Battery Status API (W3C): Chromium only, and only on secure pages. */
interface Battery extends EventTarget {
  readonly charging: boolean;
}
type WithBattery = Navigator & { getBattery?: () => Promise<Battery> };

export const batterySupported = (): boolean => 'getBattery' in navigator;

/**
 * Tells whether the device runs on battery, now and at each change, where the browser knows.
 * @returns ends it.
 */
export function watchBattery(tell: (onBattery: boolean) => void): () => void {
  const end = new AbortController();
  const watch = async (): Promise<void> => {
    const battery = await (navigator as WithBattery).getBattery?.();
    if (!battery || end.signal.aborted) return;
    const look = (): void => tell(!battery.charging);
    battery.addEventListener('chargingchange', look, { signal: end.signal });
    look();
  };
  // Refused by a permissions policy: as if there were no such API.
  watch().catch(() => undefined);
  return () => end.abort();
}
