import type { ReactNode } from 'react';
import { useId } from 'react';
import { cx } from '../cx.ts';

export interface CardProps {
  /** Names the region; without one the card is a plain box. */
  title?: ReactNode;
  /** One line under the title. */
  description?: ReactNode;
  /** Controls at the right of the title. */
  actions?: ReactNode;
  /** Level of the title among the page's headings. */
  level?: 2 | 3;
  /** False in lists of cards, so that they do not crowd a screen reader's list of landmarks. */
  landmark?: boolean;
  className?: string;
  children: ReactNode;
}

export function Card({
  title,
  description,
  actions,
  level = 2,
  landmark = true,
  className,
  children,
}: CardProps) {
  const id = useId();
  const Heading = level === 2 ? 'h2' : 'h3';
  const box = cx('rounded-xl border border-line bg-surface p-4 shadow-card sm:p-5', className);
  const Box = landmark ? 'section' : 'article';
  if (title === undefined) return <div className={box}>{children}</div>;
  return (
    <Box aria-labelledby={id} className={box}>
      <div className="mb-3 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <Heading id={id} className="text-base leading-6 font-semibold">
            {title}
          </Heading>
          {description !== undefined && <p className="text-sm text-muted">{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </Box>
  );
}
