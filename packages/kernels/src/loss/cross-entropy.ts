/**
 * Softmax cross-entropy from logits, with its gradient in the same pass: the probabilities minus one at the label.
 * Rows with a negative label are padding: no loss, no gradient.
 */
import { f32, shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { planRows } from '../kernel/rows.ts';

export const crossEntropyName = 'cross-entropy';

export interface CrossEntropyShape {
  readonly rows: number;
  readonly classes: number;
  /** Multiplies losses and gradients. */
  readonly scale: number;
  readonly gradient: boolean;
}

/**
 * Inputs logits [rows, classes], labels int32 [rows], each below `classes`.
 * Outputs losses [rows] and, with `gradient`, the gradient [rows, classes].
 */
export function crossEntropyKernel(shape: CrossEntropyShape, traits: DeviceTraits): Kernel {
  const { rows, classes, scale, gradient } = shape;
  const plan = planRows(rows, classes, traits);
  const each = (statement: string): string =>
    `for (var i = lane; i < ${classes}u; i += ${plan.lanes}u) { ${statement} }`;
  return {
    name: crossEntropyName,
    key: `${crossEntropyName} ${rows}x${classes} ${scale} ${gradient} ${plan.key}`,
    inputs: 2,
    outputs: gradient ? 2 : 1,
    workgroups: plan.workgroups,
    flops: 10 * rows * classes,
    wgsl: () =>
      shader({
        inputs: ['logits : array<f32>', 'labels : array<i32>'],
        outputs: ['losses : array<f32>', ...(gradient ? ['slopes : array<f32>'] : [])],
        workgroupSize: plan.workgroupSize,
        workgroups: plan.workgroups,
        features: plan.features,
        declarations: plan.declarations,
        body: `  ${plan.head}
  let base = row * ${classes}u;
  let label = labels[row];
  var largest = -3.4028234e38f;
  ${each('largest = max(largest, logits[base + i]);')}
  let top = ${plan.max('largest')};
  var sum = 0.0f;
  ${each('sum += exp(logits[base + i] - top);')}
  let total = ${plan.sum('sum')};
  if (lane == 0u) {
    let at = clamp(label, 0, ${classes - 1});
    let loss = log(total) - (logits[base + u32(at)] - top);
    losses[row] = select(loss * ${f32(scale)}, 0.0f, label < 0);
  }
  ${
    gradient
      ? `let factor = select(${f32(scale)}, 0.0f, label < 0);
  let share = factor / total;
  ${each(`slopes[base + i] = exp(logits[base + i] - top) * share - select(0.0f, factor, i32(i) == label);`)}`
      : ''
  }`,
      }),
  };
}
