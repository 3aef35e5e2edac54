import type { ReactNode } from 'react';

export interface Fact {
  label: string;
  value: ReactNode;
}

export function FactList({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className="grid gap-x-8 gap-y-1.5 sm:grid-cols-2">
      {facts.map(({ label, value }) => (
        <div key={label} className="flex justify-between gap-4 border-b border-line py-1">
          <dt className="text-muted">{label}</dt>
          <dd className="tabular min-w-0 text-right break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
