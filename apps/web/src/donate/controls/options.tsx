/** The less used settings. */
import { Checkbox, Select, TextField } from '../../ui/index.ts';
import { batterySupported } from '../../volunteer/battery.ts';
import { wakeLockSupported } from '../hooks/use-wake-lock.ts';
import { backends, nicknameLength, type BackendChoice, type Settings } from '../settings.ts';

export interface SettingsProperties {
  settings: Settings;
  onChange: (change: Partial<Settings>) => void;
}

const backendWords: Record<BackendChoice, string> = {
  auto: 'Automatic: the fastest that works',
  webgpu: 'WebGPU',
  webgl: 'WebGL',
  wasm: 'WebAssembly (CPU)',
  cpu: 'Plain JavaScript (CPU, very slow)',
};

/** What may be changed at any time. */
export function PowerOptions({ settings, onChange }: SettingsProperties) {
  const battery = batterySupported();
  return (
    <div>
      <Checkbox
        label="Pause while on battery"
        hint={
          battery
            ? undefined
            : 'This browser does not tell pages about the battery: use Pause when you unplug.'
        }
        disabled={!battery}
        checked={battery && settings.pauseOnBattery}
        onChange={(pauseOnBattery) => onChange({ pauseOnBattery })}
      />
      <Checkbox
        label="Keep the screen awake while working"
        hint={
          wakeLockSupported
            ? 'For devices that would fall asleep, while this tab is in front.'
            : 'Not possible here: browsers allow it on secure pages only, and some not at all.'
        }
        disabled={!wakeLockSupported}
        checked={wakeLockSupported && settings.keepAwake}
        onChange={(keepAwake) => onChange({ keepAwake })}
      />
    </div>
  );
}

/** What is fixed once work has begun. */
export function StartOptions({ settings, onChange }: SettingsProperties) {
  return (
    <Select
      label="Compute with"
      value={settings.backend}
      options={backends.map((value) => ({ value, label: backendWords[value] }))}
      onChange={(backend) => onChange({ backend })}
    />
  );
}

export function Nickname({ settings, onChange }: SettingsProperties) {
  return (
    <TextField
      label="Nickname (optional)"
      hint="Whoever runs the server sees it beside your contribution."
      value={settings.nickname}
      maxLength={nicknameLength}
      placeholder="Anonymous"
      autoComplete="off"
      onChange={(event) => onChange({ nickname: event.target.value })}
    />
  );
}
