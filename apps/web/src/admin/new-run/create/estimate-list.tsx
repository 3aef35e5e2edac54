import { formatBytes, formatCompact, formatCount, formatNumber } from '../../../ui/index.ts';
import type { Estimate } from '../form/estimate.ts';

/** What the run will take, before it is made. */
export function EstimateList({ parameters, cost }: { parameters: number; cost: Estimate }) {
  const rows = [
    { label: 'Parameters', value: formatCount(parameters) },
    {
      label: 'Memory of a volunteer',
      value: formatBytes(cost.workerFixedBytes + cost.workerPerSampleBytes),
      hint: `at the least; ${formatBytes(cost.workerPerSampleBytes)} more for each further sample at a time`,
    },
    { label: 'Memory of the server', value: formatBytes(cost.serverBytes) },
    {
      label: 'Traffic per step',
      value: `${formatBytes(cost.downloadBytes)} down, ${formatBytes(cost.uploadBytes)} up`,
      hint: 'for each volunteer',
    },
    { label: 'Tokens per step', value: formatCompact(cost.tokensPerStep) },
    { label: 'Passes over the text', value: formatNumber(cost.epochs), hint: 'in the whole run' },
  ];
  return (
    <dl className="grid gap-2.5">
      {rows.map(({ label, value, hint }) => (
        <div key={label} className="flex flex-wrap justify-between gap-x-3">
          <dt className="text-sm text-muted">{label}</dt>
          <dd className="tabular ml-auto text-right font-medium">{value}</dd>
          {hint !== undefined && <dd className="basis-full text-right text-sm text-muted">{hint}</dd>}
        </div>
      ))}
    </dl>
  );
}
