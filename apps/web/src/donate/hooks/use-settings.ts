import { useState } from 'react';
import { defaultSettings, parseSettings, type Settings } from '../settings.ts';

const key = 'tabweave.settings';

function load(): Settings {
  try {
    return parseSettings(localStorage.getItem(key));
  } catch {
    return defaultSettings;
  }
}

/** The volunteer's settings, remembered in this browser at each change. */
export function useSettings(): [Settings, (change: Partial<Settings>) => void] {
  const [settings, setSettings] = useState(load);
  const change = (part: Partial<Settings>): void => {
    const next = { ...settings, ...part };
    setSettings(next);
    try {
      localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // Storage is not allowed here: the settings last as long as the page.
    }
  };
  return [settings, change];
}

export function forgetSettings(): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept.
  }
}
