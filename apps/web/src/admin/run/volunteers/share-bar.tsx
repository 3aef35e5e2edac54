import { formatPercent } from '../../../ui/index.ts';

/** A share of the global batch. The number says it; the bar is for the eye. */
export function ShareBar({ share }: { share: number }) {
  return (
    <div className="flex items-center gap-2">
      <div aria-hidden className="h-1.5 w-14 overflow-hidden rounded-full bg-sunken ring-1 ring-control/50">
        <div className="h-full bg-accent" style={{ width: `${100 * Math.min(1, share)}%` }} />
      </div>
      <span className="tabular">{formatPercent(share)}</span>
    </div>
  );
}
