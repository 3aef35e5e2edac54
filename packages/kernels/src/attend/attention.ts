/**
 * Causal attention that never stores the matrix of scores (FlashAttention, arXiv 2205.14135 and 2307.08691): the
 * forward pass keeps for each query the logarithm of its sum of exponentials, and the backward pass computes the
 * probabilities again. One invocation walks along the keys of one query (or the queries of one key), so each sum has a
 * fixed order and nothing is added atomically. Neighbouring invocations read the same key at the same time.
 */
import { f32, shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { count } from '../matmul/fragments.ts';
import { attentionKey, packedPlaces, productFlops, type AttentionShape } from './shape.ts';

/** Keys that share one correction of the running maximum; a software adapter's compiler is slow on the longer loop. */
const keysAtOnce = (traits: DeviceTraits): number => (traits.software ? 1 : 4);

const groupSize = (traits: DeviceTraits): number => (traits.software ? 8 : 64);

const dot = (a: string, b: string, vectors: number): string =>
  count(vectors)
    .map((d) => `dot(${a}${d}, ${b}${d})`)
    .join(' + ');
const declare = (name: string, vectors: number, value: (d: number) => string, kind = 'let'): string =>
  count(vectors)
    .map((d) => `${kind} ${name}${d} = ${value(d)};`)
    .join(' ');

/** `index` counts [sample, head, token]; token last, so that neighbours share keys. */
function locate(shape: AttentionShape, heads: number, size: number): string {
  const { samples, tokens } = shape;
  return `  let index = group * ${size}u + local;
  if (index >= ${samples * heads * tokens}u) { return; }
  let token = index % ${tokens}u;
  let head = index / ${tokens}u % ${heads}u;
  let sample = index / ${tokens * heads}u;`;
}

/**
 * Input packed (see `packedPlaces`). Outputs o [samples x tokens, heads x headWidth] and lse [samples, heads, tokens],
 * the logarithm of each query's sum of exponentials.
 */
export function attentionForward(shape: AttentionShape, traits: DeviceTraits): Kernel {
  const { samples, tokens, heads, keyValueHeads, headWidth } = shape;
  const size = groupSize(traits);
  const block = keysAtOnce(traits);
  const workgroups = Math.ceil((samples * heads * tokens) / size);
  const n = headWidth / 4;
  const { q, k, v } = packedPlaces(shape);
  return {
    name: 'attention-forward',
    key: `attention-forward ${attentionKey(shape)} ${size} ${block}`,
    inputs: 1,
    outputs: 2,
    workgroups,
    flops: 2 * productFlops(shape),
    wgsl: () =>
      shader({
        inputs: ['qkv : array<vec4<f32>>'],
        outputs: ['o : array<vec4<f32>>', 'lse : array<f32>'],
        workgroupSize: size,
        workgroups,
        body: `${locate(shape, heads, size)}
  let first = sample * ${tokens}u;
  let kvHead = head / ${heads / keyValueHeads}u;
  let atQ = (first + token) * ${q.stride}u + ${q.offset}u + head * ${n}u;
  ${declare('q', n, (d) => `qkv[atQ + ${d}u] * ${f32(1 / Math.sqrt(headWidth))}`)}
  ${declare('o', n, () => 'vec4<f32>()', 'var')}
  var top = -3.0e38f;
  var sum = 0.0f;
  for (var j = 0u; j <= token; j += ${block}u) {
    ${count(block)
      .map(
        (i) => `var s${i} = -3.0e38f;
    let at${i} = (first + min(j + ${i}u, token)) * ${k.stride}u + kvHead * ${n}u;
    if (j + ${i}u <= token) {
      ${declare('k', n, (d) => `qkv[at${i} + ${k.offset + d}u]`)}
      s${i} = ${dot('q', 'k', n)};
    }`,
      )
      .join('\n    ')}
    let higher = ${count(block).reduce((largest, i) => `max(${largest}, s${i})`, 'top')};
    let correction = exp(top - higher);
    top = higher;
    ${count(block)
      .map((i) => `let p${i} = select(0.0f, exp(s${i} - higher), j + ${i}u <= token);`)
      .join('\n    ')}
    sum = sum * correction + (${count(block)
      .map((i) => `p${i}`)
      .join(' + ')});
    ${count(n)
      .map(
        (d) =>
          `o${d} = o${d} * correction + ${count(block)
            .map((i) => `p${i} * qkv[at${i} + ${v.offset + d}u]`)
            .join(' + ')};`,
      )
      .join('\n    ')}
  }
  let scale = 1.0f / sum;
  let atO = ((first + token) * ${heads}u + head) * ${n}u;
  ${count(n)
    .map((d) => `o[atO + ${d}u] = o${d} * scale;`)
    .join(' ')}
  lse[index] = top + log(sum);`,
      }),
  };
}

/**
 * Inputs packed, o, lse, dO (of the shape of o). Outputs the gradient of packed (its queries) and
 * delta [samples, heads, tokens], the row sums of dO * O (arXiv 2205.14135, appendix B.2).
 */
export function attentionBackwardQueries(shape: AttentionShape, traits: DeviceTraits): Kernel {
  const { samples, tokens, heads, keyValueHeads, headWidth } = shape;
  const size = groupSize(traits);
  const workgroups = Math.ceil((samples * heads * tokens) / size);
  const n = headWidth / 4;
  const { q, k, v } = packedPlaces(shape);
  const scale = f32(1 / Math.sqrt(headWidth));
  return {
    name: 'attention-backward',
    key: `attention-backward-queries ${attentionKey(shape)} ${size}`,
    inputs: 4,
    outputs: 2,
    workgroups,
    flops: 3 * productFlops(shape),
    wgsl: () =>
      shader({
        inputs: [
          'qkv : array<vec4<f32>>',
          'o : array<vec4<f32>>',
          'lse : array<f32>',
          'dO : array<vec4<f32>>',
        ],
        outputs: ['dQkv : array<vec4<f32>>', 'delta : array<f32>'],
        workgroupSize: size,
        workgroups,
        body: `${locate(shape, heads, size)}
  let first = sample * ${tokens}u;
  let kvHead = head / ${heads / keyValueHeads}u;
  let atQ = (first + token) * ${q.stride}u + ${q.offset}u + head * ${n}u;
  let atO = ((first + token) * ${heads}u + head) * ${n}u;
  ${declare('q', n, (d) => `qkv[atQ + ${d}u] * ${scale}`)}
  ${declare('g', n, (d) => `dO[atO + ${d}u]`)}
  ${declare('a', n, () => 'vec4<f32>()', 'var')}
  let mine = ${count(n)
    .map((d) => `dot(g${d}, o[atO + ${d}u])`)
    .join(' + ')};
  let top = lse[index];
  for (var j = 0u; j <= token; j++) {
    let at = (first + j) * ${k.stride}u + kvHead * ${n}u;
    ${declare('k', n, (d) => `qkv[at + ${k.offset + d}u]`)}
    let p = exp(${dot('q', 'k', n)} - top);
    let dP = ${count(n)
      .map((d) => `dot(g${d}, qkv[at + ${v.offset + d}u])`)
      .join(' + ')};
    let dS = p * (dP - mine);
    ${count(n)
      .map((d) => `a${d} += dS * k${d};`)
      .join(' ')}
  }
  ${count(n)
    .map((d) => `dQkv[atQ + ${d}u] = a${d} * ${scale};`)
    .join(' ')}
  delta[index] = mine;`,
      }),
  };
}

/**
 * Inputs packed, lse, delta, dO. Writes keys and values of the output, the gradient of packed. On a GPU keys and values
 * are the work of different workgroups, since both at once take too many registers.
 */
export function attentionBackwardKeys(shape: AttentionShape, traits: DeviceTraits): Kernel {
  const { samples, tokens, keyValueHeads, headWidth } = shape;
  const size = groupSize(traits);
  const together = traits.software || headWidth <= 32;
  const parts = Math.ceil((samples * keyValueHeads * tokens) / size);
  const workgroups = together ? parts : 2 * parts;
  return {
    name: 'attention-backward',
    key: `attention-backward-keys ${attentionKey(shape)} ${size} ${together}`,
    inputs: 4,
    outputs: 1,
    workgroups,
    flops: 4 * productFlops(shape),
    wgsl: () => {
      const body = together
        ? walkQueries(shape, true, true)
        : `if (part == 0u) { ${walkQueries(shape, true, false)} } else { ${walkQueries(shape, false, true)} }`;
      return shader({
        inputs: ['qkv : array<vec4<f32>>', 'lse : array<f32>', 'delta : array<f32>', 'dO : array<vec4<f32>>'],
        outputs: ['dQkv : array<vec4<f32>>'],
        workgroupSize: size,
        workgroups,
        body: `  let part = group / ${parts}u;
${locate(shape, keyValueHeads, size).replace('group *', `group % ${parts}u *`)}
  let first = sample * ${tokens}u;
  ${body}`,
      });
    },
  };
}

/** The loop over the queries that see one key: sums for its key gradient (x) and its value gradient (y). */
function walkQueries(s: AttentionShape, keys: boolean, values: boolean): string {
  const n = s.headWidth / 4;
  const { q, k, v } = packedPlaces(s);
  const shared = s.heads / s.keyValueHeads;
  const scale = f32(1 / Math.sqrt(s.headWidth));
  return `let at = (first + token) * ${k.stride}u + head * ${n}u;
${declare('k', n, (d) => `qkv[at + ${k.offset + d}u] * ${scale}`)}
${keys ? declare('v', n, (d) => `qkv[at + ${v.offset + d}u]`) : ''}
${keys ? declare('x', n, () => 'vec4<f32>()', 'var') : ''}
${values ? declare('y', n, () => 'vec4<f32>()', 'var') : ''}
for (var h = head * ${shared}u; h < (head + 1u) * ${shared}u; h++) {
  for (var t = token; t < ${s.tokens}u; t++) {
    let row = (sample * ${s.heads}u + h) * ${s.tokens}u + t;
    let atQ = (first + t) * ${q.stride}u + ${q.offset}u + h * ${n}u;
    let atO = ((first + t) * ${s.heads}u + h) * ${n}u;
    ${declare('q', n, (d) => `qkv[atQ + ${d}u]`)}
    ${declare('g', n, (d) => `dO[atO + ${d}u]`)}
    let p = exp(${dot('q', 'k', n)} - lse[row]);
    ${
      keys
        ? `let dS = p * (${dot('g', 'v', n)} - delta[row]);
    ${count(n)
      .map((d) => `x${d} += dS * q${d};`)
      .join(' ')}`
        : ''
    }
    ${
      values
        ? count(n)
            .map((d) => `y${d} += p * g${d};`)
            .join(' ')
        : ''
    }
  }
}
${
  keys
    ? count(n)
        .map((d) => `dQkv[at + ${k.offset + d}u] = x${d} * ${scale};`)
        .join(' ')
    : ''
}
${
  values
    ? count(n)
        .map((d) => `dQkv[at + ${v.offset + d}u] = y${d};`)
        .join(' ')
    : ''
}`;
}
