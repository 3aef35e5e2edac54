import { useId, type ReactNode } from 'react';

/** One of the page's three numbered parts. */
export function Step({
  number,
  title,
  description,
  children,
}: {
  number: number;
  title: string;
  description: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-xl border border-line bg-surface p-4 shadow-card sm:p-5">
      <div className="mb-4 flex gap-3">
        <span
          aria-hidden
          className="grid size-7 shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent"
        >
          {number}
        </span>
        <div>
          <h2 id={id} className="leading-7 font-semibold">
            {title}
          </h2>
          <p className="text-sm text-muted">{description}</p>
        </div>
      </div>
      {children}
    </section>
  );
}
