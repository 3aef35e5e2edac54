import type { ReactNode } from 'react';

export interface PageHeaderProps {
  title: ReactNode;
  description?: ReactNode;
  /** Above the title: where the page sits. */
  back?: ReactNode;
  /** Beside the title: a status badge. */
  badge?: ReactNode;
  actions?: ReactNode;
}

/** The page's one `h1`, with its actions. */
export function PageHeader({ title, description, back, badge, actions }: PageHeaderProps) {
  return (
    <header className="mb-5">
      {back !== undefined && <div className="mb-1 text-sm">{back}</div>}
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="min-w-0 text-2xl leading-8 font-semibold tracking-tight">{title}</h1>
          {badge}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {description !== undefined && <p className="mt-2 max-w-prose text-muted">{description}</p>}
    </header>
  );
}
