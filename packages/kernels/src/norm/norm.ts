/**
 * Layer normalisation (arXiv 1607.06450) and RMS normalisation (arXiv 1910.07467) over rows, forward and backward.
 * The parameter gradients are partial sums over chunks of rows, computed by other workgroups of the same dispatch; a
 * second small dispatch adds the partial sums in order.
 */
import { f32, shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { horizontal, planRows, rowElements } from '../kernel/rows.ts';

export interface NormShape {
  readonly rows: number;
  readonly columns: number;
  readonly epsilon: number;
  /** Without mean and shift. */
  readonly rms: boolean;
}

const shapeKey = ({ rows, columns, epsilon, rms }: NormShape): string =>
  `${rows}x${columns} ${epsilon} ${rms ? 'rms' : 'layer'}`;

/**
 * Inputs x [rows, columns], gamma [columns], and for layer normalisation beta [columns].
 * Outputs y [rows, columns], statistics [rows, 2]: mean (0 for RMS) and reciprocal deviation.
 */
export function normForward(shape: NormShape, traits: DeviceTraits): Kernel {
  const { rows, columns, epsilon, rms } = shape;
  const plan = planRows(rows, columns, traits);
  const { width, type, count } = rowElements(columns);
  const zero = `${type}(0.0f)`;
  const each = (statement: string): string =>
    `for (var i = lane; i < ${count}u; i += ${plan.lanes}u) { ${statement} }`;
  const mean = rms
    ? 'let mean = 0.0f;'
    : `var total = ${zero};
  ${each('total += x[base + i];')}
  let mean = ${plan.sum(horizontal(width, 'total'))} * ${f32(1 / columns)};`;
  return {
    name: rms ? 'rms-norm-forward' : 'layer-norm-forward',
    key: `norm-forward ${shapeKey(shape)} ${plan.key}`,
    inputs: rms ? 2 : 3,
    outputs: 2,
    workgroups: plan.workgroups,
    flops: 8 * rows * columns,
    wgsl: () =>
      shader({
        inputs: [`x : array<${type}>`, `gamma : array<${type}>`, ...(rms ? [] : [`beta : array<${type}>`])],
        outputs: [`y : array<${type}>`, 'statistics : array<vec2<f32>>'],
        workgroupSize: plan.workgroupSize,
        workgroups: plan.workgroups,
        features: plan.features,
        declarations: plan.declarations,
        body: `  ${plan.head}
  let base = row * ${count}u;
  ${mean}
  var squares = ${zero};
  ${each('let centred = x[base + i] - mean; squares += centred * centred;')}
  let variance = ${plan.sum(horizontal(width, 'squares'))} * ${f32(1 / columns)};
  let scale = 1.0f / sqrt(variance + ${f32(epsilon)});
  if (lane == 0u) { statistics[row] = vec2<f32>(mean, scale); }
  ${each(`y[base + i] = (x[base + i] - mean) * scale * gamma[i]${rms ? '' : ' + beta[i]'};`)}`,
      }),
  };
}

/** Rows whose parameter gradients one invocation adds up. */
function chunkRows(rows: number, traits: DeviceTraits): number {
  return traits.software ? Math.max(64, Math.ceil(rows / 8)) : 64;
}

export function normChunks(shape: NormShape, traits: DeviceTraits): number {
  return Math.ceil(shape.rows / chunkRows(shape.rows, traits));
}

/**
 * Inputs x, gamma, statistics, dy, and with `adding` a matrix [rows, columns] that is added to dx.
 * Outputs dx [rows, columns] and partial [chunks, parameters, columns]: gamma's gradient, then (layer) beta's.
 */
export function normBackward(shape: NormShape, traits: DeviceTraits, adding = false): Kernel {
  const { rows, columns, rms } = shape;
  const plan = planRows(rows, columns, traits);
  const { width, type, count } = rowElements(columns);
  const zero = `${type}(0.0f)`;
  const each = (statement: string): string =>
    `for (var i = lane; i < ${count}u; i += ${plan.lanes}u) { ${statement} }`;
  const chunk = chunkRows(rows, traits);
  const chunks = normChunks(shape, traits);
  const columnGroups = Math.ceil((chunks * count) / plan.workgroupSize);
  const parameters = rms ? 1 : 2;
  const normal = '(x[base + i] - mean) * scale';
  const beta = rms ? '' : 'var shift = ' + zero + ';';
  const workgroups = plan.workgroups + columnGroups;
  return {
    name: rms ? 'rms-norm-backward' : 'layer-norm-backward',
    key: `norm-backward ${shapeKey(shape)} ${plan.key} ${adding}`,
    inputs: adding ? 5 : 4,
    outputs: 2,
    workgroups,
    flops: 20 * rows * columns,
    ...(adding ? {} : { adding: () => normBackward(shape, traits, true) }),
    wgsl: () =>
      shader({
        inputs: [
          `x : array<${type}>`,
          `gamma : array<${type}>`,
          'statistics : array<vec2<f32>>',
          `dy : array<${type}>`,
          ...(adding ? [`more : array<${type}>`] : []),
        ],
        outputs: [`dx : array<${type}>`, `partialSums : array<${type}>`],
        workgroupSize: plan.workgroupSize,
        workgroups,
        features: plan.features,
        declarations: plan.declarations,
        body: `  if (group >= ${plan.workgroups}u) {
    let index = (group - ${plan.workgroups}u) * ${plan.workgroupSize}u + local;
    if (index < ${chunks * count}u) {
    let i = index % ${count}u;
    let first = index / ${count}u * ${chunk}u;
    var slope = ${zero};
    ${beta}
    for (var r = first; r < min(first + ${chunk}u, ${rows}u); r++) {
      let base = r * ${count}u;
      let mean = statistics[r].x;
      let scale = statistics[r].y;
      slope += dy[base + i] * (${normal});
      ${rms ? '' : 'shift += dy[base + i];'}
    }
    let at = index / ${count}u * ${parameters * count}u + i;
    partialSums[at] = slope;
    ${rms ? '' : `partialSums[at + ${count}u] = shift;`}
    }
    return;
  }
  ${plan.head}
  let base = row * ${count}u;
  let mean = statistics[row].x;
  let scale = statistics[row].y;
  var sum = ${zero};
  var projection = ${zero};
  ${each(`let g = dy[base + i] * gamma[i]; ${rms ? '' : 'sum += g;'} projection += g * (${normal});`)}
  let meanProjection = ${plan.sum(horizontal(width, 'projection'))} * ${f32(1 / columns)};
  let meanGradient = ${rms ? '0.0f' : `${plan.sum(horizontal(width, 'sum'))} * ${f32(1 / columns)}`};
  ${each(`dx[base + i] = scale * (dy[base + i] * gamma[i] - meanGradient - (${normal}) * meanProjection)${adding ? ' + more[base + i]' : ''};`)}`,
      }),
  };
}

/** Input partial [chunks, parameters, columns]. Outputs the gradient of gamma [columns] and (layer) of beta. */
export function normParameterSums(shape: NormShape, traits: DeviceTraits, accumulate = false): Kernel {
  const { columns, rms } = shape;
  const chunks = normChunks(shape, traits);
  const parameters = rms ? 1 : 2;
  const size = 64;
  const workgroups = Math.ceil((parameters * columns) / size);
  const assign = accumulate ? '+=' : '=';
  return {
    name: rms ? 'rms-norm-backward' : 'layer-norm-backward',
    key: `norm-sums ${columns} ${chunks} ${parameters} ${accumulate}`,
    inputs: 1,
    outputs: parameters,
    workgroups,
    flops: chunks * parameters * columns,
    ...(accumulate ? {} : { accumulating: () => normParameterSums(shape, traits, true) }),
    wgsl: () =>
      shader({
        inputs: ['partialSums : array<f32>'],
        outputs: ['gamma : array<f32>', ...(rms ? [] : ['beta : array<f32>'])],
        workgroupSize: size,
        workgroups,
        body: `  let i = group * ${size}u + local;
  if (i >= ${parameters * columns}u) { return; }
  var sum = 0.0f;
  for (var chunk = 0u; chunk < ${chunks}u; chunk++) { sum += partialSums[chunk * ${parameters * columns}u + i]; }
  ${rms ? `gamma[i] ${assign} sum;` : `if (i < ${columns}u) { gamma[i] ${assign} sum; } else { beta[i - ${columns}u] ${assign} sum; }`}`,
      }),
  };
}
