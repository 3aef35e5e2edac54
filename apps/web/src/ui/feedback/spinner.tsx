import { LoaderCircle } from 'lucide-react';

/** A turning ring. With `label` it is announced; without, it decorates a control that says it is busy. */
export function Spinner({ label }: { label?: string }) {
  const ring = <LoaderCircle aria-hidden className="size-[1.15em] shrink-0 animate-spin" />;
  if (label === undefined) return ring;
  return (
    <span role="status" className="inline-flex items-center gap-2 text-muted">
      {ring}
      {label}
    </span>
  );
}
