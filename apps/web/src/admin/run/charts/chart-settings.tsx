import { Pause, Play } from 'lucide-react';
import { Button, Checkbox, Select, Slider } from '../../../ui/index.ts';
import type { XAxis } from './chart-data.ts';

export interface ChartSettings {
  axis: XAxis;
  /** Weight of the past, 0 to 0.99. */
  smoothing: number;
  logLoss: boolean;
}

export const defaultSettings: ChartSettings = { axis: 'step', smoothing: 0.6, logLoss: false };

export interface ChartSettingsBarProps {
  settings: ChartSettings;
  /** Whether the charts stand still while the run goes on. */
  frozen: boolean;
  onChange: (settings: ChartSettings) => void;
  onFreeze: (frozen: boolean) => void;
}

export function ChartSettingsBar({ settings, frozen, onChange, onFreeze }: ChartSettingsBarProps) {
  return (
    <div className="flex flex-wrap items-end gap-x-6 gap-y-3">
      <Select
        label="Horizontal axis"
        className="w-36"
        value={settings.axis}
        options={[
          { value: 'step', label: 'Step' },
          { value: 'time', label: 'Time' },
        ]}
        onChange={(axis) => onChange({ ...settings, axis })}
      />
      <div className="w-56">
        <Slider
          label="Smoothing"
          value={settings.smoothing}
          min={0}
          max={0.99}
          step={0.01}
          onChange={(smoothing) => onChange({ ...settings, smoothing })}
        />
      </div>
      <Checkbox
        label="Logarithmic loss"
        checked={settings.logLoss}
        onChange={(logLoss) => onChange({ ...settings, logLoss })}
      />
      <Button size="small" icon={frozen ? Play : Pause} onClick={() => onFreeze(!frozen)}>
        {frozen ? 'Follow the run' : 'Hold the charts'}
      </Button>
    </div>
  );
}
