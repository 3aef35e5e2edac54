/** Kernels that this device gets wrong, by name: their operations run on the twin instead. */

export interface SwitchedOff {
  name: string;
  reason: string;
}

const off = new Map<string, string>();

export function switchOff(name: string, reason: string): void {
  off.set(name, reason);
}

/** Whether all of `names` may be used. */
export function switchedOn(...names: readonly string[]): boolean {
  return off.size === 0 || names.every((name) => !off.has(name));
}

export function switchedOff(): SwitchedOff[] {
  return [...off].map(([name, reason]) => ({ name, reason }));
}

/** For a new device, of which nothing is known yet. */
export function switchAllOn(): void {
  off.clear();
}
