/**
 * A proof that no placement has a flow, for worlds of slow links between regions. Say a device's price is the most
 * layers q that it passes at the flow alone, and its price per layer q / k where it holds k. If every set of devices
 * that each fall short alone, but pass the flow together, costs more than 1 per layer, then the model's layers cost at
 * least L together, and exactly L only where each is held by one device alone. So if the prices of all devices sum to
 * L, the placement is one chain of all devices, and each pair of neighbours needs a link that carries the whole flow.
 * Between regions there is none.
 */
import type { FlowProblem } from '../flow-problem.ts';
import { findRegions } from '../regions.ts';

/** Steps of the knapsack; rates are rounded up to them, which makes sets only cheaper. */
const grid = 20_000;

/** Whether it is proved that no placement has `flow`. Rates must depend on the number of layers alone. */
export function beyondChains(problem: FlowProblem, flow: number): boolean {
  const rates = Array.from({ length: problem.devices }, (_, device) =>
    Array.from({ length: problem.reach(device, 0) }, (_, index) => problem.rate(device, 0, index + 1)),
  );
  const prices = rates.map((own) => own.findLastIndex((rate) => rate >= flow) + 1);
  const whole = prices.reduce((sum, price) => sum + price, 0);
  if (whole > problem.layers) return false;
  const items = rates.flatMap((own, device) =>
    own.flatMap((rate, index) => (rate < flow ? [{ rate, price: prices[device]! / (index + 1) }] : [])),
  );
  if (cheapestSet(items, flow) <= 1 + 1e-6) return false;
  return whole < problem.layers || !joined(problem, flow);
}

function joined(problem: FlowProblem, flow: number): boolean {
  const regions = findRegions(problem, flow);
  if (regions === null) return true;
  for (let d = 0; d < problem.devices; d++)
    for (let e = 0; e < problem.devices; e++)
      if (regions.regionOf[d] !== regions.regionOf[e])
        for (let boundary = 1; boundary < problem.layers; boundary++)
          if (problem.link(d, e, boundary) >= flow) return true;
  return false;
}

function cheapestSet(items: readonly { rate: number; price: number }[], flow: number): number {
  const distinct = new Map(items.map(({ rate, price }) => [`${rate} ${price}`, { rate, price }]));
  const steps = [...distinct.values()].map(({ rate, price }) => ({
    step: Math.ceil((rate / flow) * grid),
    price,
  }));
  const cost = new Float64Array(grid + 1).fill(Infinity);
  cost[0] = 0;
  for (let need = 1; need <= grid; need++)
    for (const { step, price } of steps)
      cost[need] = Math.min(cost[need]!, cost[Math.max(0, need - step)]! + price);
  return cost[grid]!;
}
