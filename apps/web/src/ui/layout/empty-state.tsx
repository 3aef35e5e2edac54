import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

export interface EmptyStateProps {
  icon?: LucideIcon;
  title: string;
  children?: ReactNode;
  /** What to do next. */
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-xl border border-dashed border-control px-6 py-10 text-center">
      {Icon && <Icon aria-hidden className="size-7 text-muted" strokeWidth={1.6} />}
      <p className="font-semibold">{title}</p>
      {children !== undefined && <div className="max-w-prose text-sm text-muted">{children}</div>}
      {action !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
