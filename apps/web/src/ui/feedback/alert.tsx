import { CircleAlert, CircleCheck, Info, TriangleAlert, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../cx.ts';
import type { Tone } from './tone.ts';

const looks: Record<Tone, { box: string; icon: LucideIcon; ink: string }> = {
  neutral: { box: 'border-line bg-sunken', icon: Info, ink: 'text-muted' },
  good: { box: 'border-good/40 bg-good-soft', icon: CircleCheck, ink: 'text-good' },
  warn: { box: 'border-warn/40 bg-warn-soft', icon: TriangleAlert, ink: 'text-warn' },
  bad: { box: 'border-bad/40 bg-bad-soft', icon: CircleAlert, ink: 'text-bad' },
  info: { box: 'border-info/40 bg-info-soft', icon: Info, ink: 'text-info' },
};

export interface AlertProps {
  tone?: Tone;
  title?: ReactNode;
  children?: ReactNode;
  /** What the reader can do about it. */
  action?: ReactNode;
  className?: string;
}

/** A message in the page; a bad one is announced at once, the others politely. */
export function Alert({ tone = 'info', title, children, action, className }: AlertProps) {
  const { box, icon: Icon, ink } = looks[tone];
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      className={cx('flex gap-3 rounded-xl border p-3.5', box, className)}
    >
      <Icon aria-hidden className={cx('mt-0.5 size-5 shrink-0', ink)} />
      <div className="min-w-0 flex-1">
        {title !== undefined && <p className="font-semibold">{title}</p>}
        {children !== undefined && <div className="text-sm">{children}</div>}
        {action !== undefined && <div className="mt-2 flex flex-wrap gap-2">{action}</div>}
      </div>
    </div>
  );
}
