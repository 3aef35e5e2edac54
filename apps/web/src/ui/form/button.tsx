import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from '../cx.ts';
import { Spinner } from '../feedback/spinner.tsx';
import { buttonStyle, type ButtonSize, type ButtonTone } from './button-style.ts';

export interface ButtonProps extends ComponentProps<'button'> {
  tone?: ButtonTone;
  size?: ButtonSize;
  icon?: LucideIcon;
  /** Shows a spinner and refuses clicks, keeping the focus. */
  busy?: boolean;
}

export function Button({
  tone = 'secondary',
  size = 'medium',
  icon: Icon,
  busy = false,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      className={cx(buttonStyle(tone, size), className)}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy ? <Spinner /> : Icon && <Icon aria-hidden className="size-[1.15em] shrink-0" />}
      {children}
    </button>
  );
}
