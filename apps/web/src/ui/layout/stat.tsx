import type { ReactNode } from 'react';

export interface StatProps {
  label: string;
  value: ReactNode;
  /** A unit or a remark, small, under the value. */
  hint?: ReactNode;
}

/** One number with its name. Stats sit in a `StatList`. */
export function Stat({ label, value, hint }: StatProps) {
  return (
    <div className="min-w-0">
      <dt className="text-sm text-muted">{label}</dt>
      <dd className="tabular truncate text-xl leading-7 font-semibold">{value}</dd>
      {hint !== undefined && <dd className="tabular text-sm text-muted">{hint}</dd>}
    </div>
  );
}

export function StatList({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[repeat(auto-fit,minmax(7rem,1fr))] gap-x-6 gap-y-4">{children}</dl>;
}
