import { describe, expect, it } from 'vitest';
import { defaultSettings, parseSettings, toShare, type Settings } from './settings.ts';

describe('settings', () => {
  it('come back as they were stored', () => {
    const chosen: Settings = {
      share: 25,
      pauseOnBattery: false,
      keepAwake: true,
      nickname: 'Ada',
      backend: 'wasm',
    };
    expect(parseSettings(JSON.stringify(chosen))).toEqual(chosen);
  });

  it('are the defaults where nothing or nonsense is stored', () => {
    for (const text of [null, '', '{', '[]', '3', 'null', '{"share":"25","nickname":7,"backend":"cuda"}']) {
      expect(parseSettings(text)).toEqual(defaultSettings);
    }
  });

  it('keep the fields that fit, and bring a share into its bounds', () => {
    expect(parseSettings('{"share":0,"keepAwake":true,"pauseOnBattery":"no"}')).toEqual({
      ...defaultSettings,
      share: 5,
      keepAwake: true,
    });
    expect(toShare(250)).toBe(100);
    expect(toShare(59.6)).toBe(60);
    expect(toShare(Number.NaN)).toBeNull();
  });
});
