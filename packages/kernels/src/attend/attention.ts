/**
 * Causal attention that never stores the matrix of scores (FlashAttention, arXiv 2205.14135 and 2307.08691): the
 * forward pass keeps for each query the logarithm of its sum of exponentials, and the backward pass computes the
 * probabilities again. One invocation walks along the keys of one query (or the queries of one key), so each sum has a
 * fixed order and nothing is added atomically. Neighbouring invocations read the same key at the same time.
 */
import { f32, shader, type DeviceTraits, type Kernel } from '../kernel/kernel.ts';
import { count } from '../matmul/fragments.ts';
import { HeadVectors } from './head.ts';
import { attentionKey, packedPlaces, productFlops, type AttentionShape } from './shape.ts';

/** What the kernels here are switched off by. */
export const attentionNames = ['attention-forward', 'attention-backward'] as const;

/** Keys that share one correction of the running maximum; a software adapter's compiler is slow on the longer loop. */
const keysAtOnce = (traits: DeviceTraits): number => (traits.software ? 1 : 4);
const groupSize = (traits: DeviceTraits): number => (traits.software ? 8 : 64);
/** Heads beyond this are looped over even on a GPU: written out they would not fit its registers. */
const widestInRegisters = 64;
/** Below this a software adapter spends less on a slower walk than on compiling a faster one. */
const smallForSoftware = 5e6;

function headVectors(shape: AttentionShape, traits: DeviceTraits): HeadVectors {
  const small = traits.software && productFlops(shape) < smallForSoftware;
  return new HeadVectors(shape.headWidth / 4, small || shape.headWidth > widestInRegisters);
}

/** `index` counts [sample, head, token]; token last, so that neighbours share keys. */
function locate(shape: AttentionShape, heads: number, size: number, group = 'group'): string {
  const { samples, tokens } = shape;
  return `  let index = ${group} * ${size}u + local;
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
  const h = headVectors(shape, traits);
  const { q, k, v } = packedPlaces(shape);
  const inputs = {
    key: (i: number) => (d: string) => `qkv[at${i} + ${k.offset}u + ${d}]`,
    value: (i: number) => (d: string) => `qkv[at${i} + ${v.offset}u + ${d}]`,
  };
  return {
    name: 'attention-forward',
    key: `attention-forward ${attentionKey(shape)} ${size} ${block} ${h.key}`,
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
  ${h.declare('query', (d) => `qkv[atQ + ${d}] * ${f32(1 / Math.sqrt(headWidth))}`)}
  ${h.declare('mean', () => 'vec4<f32>()')}
  var top = -3.0e38f;
  var sum = 0.0f;
  for (var j = 0u; j <= token; j += ${block}u) {
    ${count(block)
      .map(
        (i) => `var s${i} = -3.0e38f;
    let at${i} = (first + min(j + ${i}u, token)) * ${k.stride}u + kvHead * ${n}u;
    if (j + ${i}u <= token) {
      ${h.dot('score', (d) => h.at('query', d), inputs.key(i))}
      s${i} = score;
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
    ${h.each(
      (d) =>
        `${h.at('mean', d)} = ${h.at('mean', d)} * correction + ${count(block)
          .map((i) => `p${i} * ${inputs.value(i)(d)}`)
          .join(' + ')};`,
    )}
  }
  let scale = 1.0f / sum;
  let atO = ((first + token) * ${heads}u + head) * ${n}u;
  ${h.each((d) => `o[atO + ${d}] = ${h.at('mean', d)} * scale;`)}
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
  const h = headVectors(shape, traits);
  const { q, k, v } = packedPlaces(shape);
  const scale = f32(1 / Math.sqrt(headWidth));
  return {
    name: 'attention-backward',
    key: `attention-backward-queries ${attentionKey(shape)} ${size} ${h.key}`,
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
  ${h.declare('query', (d) => `qkv[atQ + ${d}] * ${scale}`)}
  ${h.declare('g', (d) => `dO[atO + ${d}]`)}
  ${h.declare('slope', () => 'vec4<f32>()')}
  ${h.dot(
    'mine',
    (d) => h.at('g', d),
    (d) => `o[atO + ${d}]`,
  )}
  let top = lse[index];
  for (var j = 0u; j <= token; j++) {
    let at = (first + j) * ${k.stride}u + kvHead * ${n}u;
    ${h.dot(
      'score',
      (d) => h.at('query', d),
      (d) => `qkv[at + ${k.offset}u + ${d}]`,
    )}
    ${h.dot(
      'dP',
      (d) => h.at('g', d),
      (d) => `qkv[at + ${v.offset}u + ${d}]`,
    )}
    let dS = exp(score - top) * (dP - mine);
    ${h.each((d) => `${h.at('slope', d)} += dS * qkv[at + ${k.offset}u + ${d}];`)}
  }
  ${h.each((d) => `dQkv[atQ + ${d}] = ${h.at('slope', d)} * ${scale};`)}
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
  const h = headVectors(shape, traits);
  const together = traits.software || headWidth <= 32;
  const parts = Math.ceil((samples * keyValueHeads * tokens) / size);
  const workgroups = together ? parts : 2 * parts;
  return {
    name: 'attention-backward',
    key: `attention-backward-keys ${attentionKey(shape)} ${size} ${together} ${h.key}`,
    inputs: 4,
    outputs: 1,
    workgroups,
    flops: 4 * productFlops(shape),
    wgsl: () => {
      const body = together
        ? walkQueries(shape, h, true, true)
        : `if (part == 0u) { ${walkQueries(shape, h, true, false)} } else { ${walkQueries(shape, h, false, true)} }`;
      return shader({
        inputs: ['qkv : array<vec4<f32>>', 'lse : array<f32>', 'delta : array<f32>', 'dO : array<vec4<f32>>'],
        outputs: ['dQkv : array<vec4<f32>>'],
        workgroupSize: size,
        workgroups,
        body: `  let part = group / ${parts}u;
${locate(shape, keyValueHeads, size, `(group % ${parts}u)`)}
  let first = sample * ${tokens}u;
  ${body}`,
      });
    },
  };
}

/** The loop over the queries that see one key: sums for its key gradient (x) and its value gradient (y). */
function walkQueries(s: AttentionShape, h: HeadVectors, keys: boolean, values: boolean): string {
  const n = s.headWidth / 4;
  const { q, k, v } = packedPlaces(s);
  const shared = s.heads / s.keyValueHeads;
  const scale = f32(1 / Math.sqrt(s.headWidth));
  const query = (d: string): string => `qkv[atQ + ${d}]`;
  const gradient = (d: string): string => `dO[atO + ${d}]`;
  return `let at = (first + token) * ${k.stride}u + head * ${n}u;
  ${h.declare('k', (d) => `qkv[at + ${k.offset}u + ${d}] * ${scale}`)}
  ${keys ? h.declare('v', (d) => `qkv[at + ${v.offset}u + ${d}]`) : ''}
  ${keys ? h.declare('x', () => 'vec4<f32>()') : ''}
  ${values ? h.declare('y', () => 'vec4<f32>()') : ''}
  for (var queryHead = head * ${shared}u; queryHead < (head + 1u) * ${shared}u; queryHead++) {
    for (var t = token; t < ${s.tokens}u; t++) {
      let row = (sample * ${s.heads}u + queryHead) * ${s.tokens}u + t;
      let atQ = (first + t) * ${q.stride}u + ${q.offset}u + queryHead * ${n}u;
      let atO = ((first + t) * ${s.heads}u + queryHead) * ${n}u;
      ${h.dot('score', query, (d) => h.at('k', d))}
      let p = exp(score - lse[row]);
      ${
        keys
          ? `${h.dot('dP', gradient, (d) => h.at('v', d))}
      let dS = p * (dP - delta[row]);`
          : ''
      }
      ${h.each(
        (d) =>
          `${keys ? `${h.at('x', d)} += dS * ${query(d)};` : ''} ${values ? `${h.at('y', d)} += p * ${gradient(d)};` : ''}`,
      )}
    }
  }
  ${keys ? h.each((d) => `dQkv[at + ${k.offset}u + ${d}] = ${h.at('x', d)} * ${scale};`) : ''}
  ${values ? h.each((d) => `dQkv[at + ${v.offset}u + ${d}] = ${h.at('y', d)};`) : ''}`;
}
