/** How much of the device's time is given: presets, a slider, and a number for those who cannot drag. */
import { useId, useState } from 'react';
import { Button, controlStyle, cx } from '../../ui/index.ts';
import { leastShare, presets, toShare } from '../settings.ts';

interface Properties {
  /** Percent. */
  share: number;
  onChange: (share: number) => void;
}

export function ShareControl({ share, onChange }: Properties) {
  const id = useId();
  // What is being typed may for a moment be no share, for example empty.
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <fieldset className="space-y-3">
      <legend className="text-sm font-medium">How much of the time this device works</legend>
      <div className="grid grid-cols-3 gap-2">
        {presets.map((preset) => (
          <Button
            key={preset.name}
            className="flex-col gap-0! px-2! py-1 leading-tight"
            tone={share === preset.share ? 'primary' : 'secondary'}
            aria-pressed={share === preset.share}
            onClick={() => onChange(preset.share)}
          >
            <span>{preset.name}</span>
            <span className="text-sm font-normal">{preset.share} %</span>
          </Button>
        ))}
      </div>
      <div className="flex items-center gap-3">
        <input
          type="range"
          className="h-6 min-w-0 grow accent-accent"
          aria-label="Share of time, percent"
          min={leastShare}
          max={100}
          value={share}
          onChange={(event) => onChange(event.target.valueAsNumber)}
        />
        <label className="sr-only" htmlFor={id}>
          Share of time as a number, percent
        </label>
        <input
          id={id}
          type="number"
          className={cx(controlStyle, 'tabular w-20! text-right')}
          min={leastShare}
          max={100}
          value={typed ?? share}
          onChange={(event) => {
            setTyped(event.target.value);
            const { valueAsNumber: value } = event.target;
            if (value >= leastShare && value <= 100) onChange(Math.round(value));
          }}
          onBlur={(event) => {
            setTyped(null);
            onChange(toShare(event.target.valueAsNumber) ?? share);
          }}
        />
        <span aria-hidden="true">%</span>
      </div>
      <p className="text-sm text-muted">{shareWords(share)}</p>
    </fieldset>
  );
}

function shareWords(share: number): string {
  if (share === 100) return 'Works without rests. The device gets warm, and other programs may feel slow.';
  return `After each piece of work it rests, so that it is busy about ${share} % of the time.`;
}
