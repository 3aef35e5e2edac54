import { encodedBytes, type Encoding, type FieldError, type Strategy } from '@tabweave/shared';
import { Select, formatBytes } from '../../../ui/index.ts';
import { messageAt } from '../form/to-run-input.ts';

const policies = {
  proportional: {
    label: 'By speed',
    hint: 'Faster volunteers get more samples, so that all finish a step together.',
  },
  equal: { label: 'All alike', hint: 'Each volunteer gets as many samples; the slowest sets the pace.' },
} as const;

const encodings: Record<Encoding, { label: string; gradient: string }> = {
  float32: { label: 'float32, exact', gradient: 'Exact: the result does not depend on who computed it.' },
  float16: {
    label: 'float16, half the bytes',
    gradient: 'Rounded to 16 bits; what is rounded off goes into the next step.',
  },
  int8: {
    label: 'int8, a quarter of the bytes',
    gradient: 'Rounded to 8 bits per value; what is rounded off goes into the next step.',
  },
};

const parameterHints = {
  float32: 'Exact parameters for every volunteer.',
  float16: 'Volunteers compute with rounded parameters; the server keeps them exact.',
} as const;

export interface StrategyFieldsProps {
  strategy: Strategy;
  parameters: number | null;
  errors: readonly FieldError[];
  onChange: (strategy: Strategy) => void;
}

export function StrategyFields({ strategy, parameters, errors, onChange }: StrategyFieldsProps) {
  const traffic = (encoding: Encoding, direction: string): string =>
    parameters === null
      ? ''
      : ` ${formatBytes(encodedBytes(parameters, encoding))} ${direction} per step and volunteer.`;
  const { batchPolicy, parameterEncoding, gradientEncoding } = strategy;
  return (
    <div className="grid gap-4 lg:grid-cols-3">
      <Select
        label="Shares of the batch"
        value={batchPolicy}
        options={(['proportional', 'equal'] as const).map((value) => ({
          value,
          label: policies[value].label,
        }))}
        hint={policies[batchPolicy].hint}
        error={messageAt(errors, 'strategy.batchPolicy')}
        onChange={(value) => onChange({ ...strategy, batchPolicy: value })}
      />
      <Select
        label="Parameters travel as"
        value={parameterEncoding}
        options={(['float32', 'float16'] as const).map((value) => ({ value, label: encodings[value].label }))}
        hint={parameterHints[parameterEncoding] + traffic(parameterEncoding, 'down')}
        error={messageAt(errors, 'strategy.parameterEncoding')}
        onChange={(value) => onChange({ ...strategy, parameterEncoding: value })}
      />
      <Select
        label="Gradients travel as"
        value={gradientEncoding}
        options={(['float32', 'float16', 'int8'] as const).map((value) => ({
          value,
          label: encodings[value].label,
        }))}
        hint={encodings[gradientEncoding].gradient + traffic(gradientEncoding, 'up')}
        error={messageAt(errors, 'strategy.gradientEncoding')}
        onChange={(value) => onChange({ ...strategy, gradientEncoding: value })}
      />
    </div>
  );
}
