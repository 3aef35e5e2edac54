/** Softmax of rows in one kernel: the maximum and the sum below it come from one walk (arXiv 1805.02867). */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { horizontal, planRows, rowElements } from '../kernel/rows.ts';

export const softmaxName = 'softmax';

/** Input and output [rows, columns]. */
export function softmaxKernel(rows: number, columns: number, traits: DeviceTraits): Kernel {
  const plan = planRows(rows, columns, traits);
  const { width, type, count } = rowElements(columns);
  const largest = width === 4 ? 'max(max(value.x, value.y), max(value.z, value.w))' : 'value';
  return {
    name: softmaxName,
    key: `softmax ${rows}x${columns} ${plan.key}`,
    inputs: 1,
    outputs: 1,
    workgroups: plan.workgroups,
    flops: 20 * rows * columns,
    wgsl: () =>
      shader({
        inputs: [`x : array<${type}>`],
        outputs: [`y : array<${type}>`],
        workgroupSize: plan.workgroupSize,
        workgroups: plan.workgroups,
        features: plan.features,
        declarations: plan.declarations,
        // Below the lowest finite number there is only -Infinity, whose exponential is 0 whatever the maximum.
        body: `  ${plan.head}
  let base = row * ${count}u;
  var highest = -3.4028234e38f;
  var sum = 0.0f;
  for (var i = lane; i < ${count}u; i += ${plan.lanes}u) {
    let value = x[base + i];
    let now = ${largest};
    if (now > highest) {
      sum *= exp(highest - now);
      highest = now;
    }
    let part = exp(value - highest);
    sum += ${horizontal(width, 'part')};
  }
  let top = ${plan.max('highest')};
  let total = ${plan.sum('sum * exp(highest - top)')};
  let scale = 1.0f / total;
  for (var i = lane; i < ${count}u; i += ${plan.lanes}u) {
    y[base + i] = exp(x[base + i] - top) * scale;
  }`,
      }),
  };
}
