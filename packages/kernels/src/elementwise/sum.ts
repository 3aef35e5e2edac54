/** The sum of all elements, in a fixed order. */
import { shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { planRows } from '../kernel/rows.ts';

/** Input [elements]. Output [1]. One workgroup: for losses of rows, not for large tensors. */
export function sumKernel(elements: number, traits: DeviceTraits, accumulate = false): Kernel {
  const plan = planRows(1, elements, traits);
  return {
    name: 'sum',
    key: `sum ${elements} ${plan.key} ${accumulate}`,
    inputs: 1,
    outputs: 1,
    workgroups: 1,
    flops: elements,
    ...(accumulate ? {} : { accumulating: () => sumKernel(elements, traits, true) }),
    wgsl: () =>
      shader({
        inputs: ['x : array<f32>'],
        outputs: ['y : array<f32>'],
        workgroupSize: plan.workgroupSize,
        workgroups: 1,
        features: plan.features,
        declarations: plan.declarations,
        body: `  ${plan.head}
  var sum = 0.0f;
  for (var i = lane; i < ${elements}u; i += ${plan.lanes}u) { sum += x[i]; }
  let total = ${plan.sum('sum')};
  if (lane == 0u) { y[0] ${accumulate ? '+=' : '='} total; }`,
      }),
  };
}
