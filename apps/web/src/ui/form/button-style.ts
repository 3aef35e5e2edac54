import { cx } from '../cx.ts';

export type ButtonTone = 'primary' | 'secondary' | 'ghost' | 'danger';
export type ButtonSize = 'small' | 'medium' | 'large';

const tones: Record<ButtonTone, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover',
  secondary: 'border border-control bg-surface text-text hover:bg-sunken',
  ghost: 'text-text hover:bg-sunken',
  danger: 'border border-bad bg-surface text-bad hover:bg-bad-soft',
};
const sizes: Record<ButtonSize, string> = {
  small: 'min-h-8 gap-1.5 px-2.5 text-sm',
  medium: 'min-h-10 gap-2 px-3 sm:px-4',
  large: 'min-h-13 gap-2.5 px-6 text-lg',
};

/** Classes of a button, for links that should look like one. */
export function buttonStyle(tone: ButtonTone = 'secondary', size: ButtonSize = 'medium'): string {
  return cx(
    'inline-flex items-center justify-center rounded-lg font-medium transition-colors',
    'disabled:opacity-55 aria-disabled:opacity-55',
    tones[tone],
    sizes[size],
  );
}
