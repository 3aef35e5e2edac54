/** What a volunteer chose, remembered in this browser. */
export const backends = ['auto', 'webgpu', 'webgl', 'wasm', 'cpu'] as const;
export type BackendChoice = (typeof backends)[number];

export interface Settings {
  /** Percent of the time that the device may be busy: a whole number from 5 to 100. */
  share: number;
  pauseOnBattery: boolean;
  keepAwake: boolean;
  /** Public nickname; empty for anonymous. */
  nickname: string;
  backend: BackendChoice;
}

export const leastShare = 5;
export const nicknameLength = 40;

/** Share of time by name, percent. */
export const presets = [
  { name: 'Light', share: 25 },
  { name: 'Balanced', share: 60 },
  { name: 'Full', share: 100 },
] as const;

export const defaultSettings: Settings = {
  share: 60,
  pauseOnBattery: true,
  keepAwake: false,
  nickname: '',
  backend: 'auto',
};

/** The nearest share that can be chosen; null where `value` is no number. */
export function toShare(value: number): number | null {
  return Number.isFinite(value) ? Math.min(100, Math.max(leastShare, Math.round(value))) : null;
}

/** Reads what an earlier version of the page may have stored: a field that does not fit gets its default. */
export function parseSettings(text: string | null): Settings {
  let stored: unknown = null;
  try {
    stored = JSON.parse(text ?? 'null');
  } catch {
    // Damaged: the defaults.
  }
  const fields = (typeof stored === 'object' && stored !== null ? stored : {}) as Partial<
    Record<keyof Settings, unknown>
  >;
  const flag = (value: unknown, otherwise: boolean): boolean =>
    typeof value === 'boolean' ? value : otherwise;
  return {
    share: (typeof fields.share === 'number' ? toShare(fields.share) : null) ?? defaultSettings.share,
    pauseOnBattery: flag(fields.pauseOnBattery, defaultSettings.pauseOnBattery),
    keepAwake: flag(fields.keepAwake, defaultSettings.keepAwake),
    nickname:
      typeof fields.nickname === 'string'
        ? fields.nickname.slice(0, nicknameLength)
        : defaultSettings.nickname,
    backend: backends.find((backend) => backend === fields.backend) ?? defaultSettings.backend,
  };
}
