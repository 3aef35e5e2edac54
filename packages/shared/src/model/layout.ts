/**
 * The flat parameter vector: every tensor of a model, in a fixed order, at fixed offsets. The same layout
 * serves parameters, gradients and optimizer moments, on the server, on the wire and in the tab.
 * Names and shapes are Hugging Face's for GPT2LMHeadModel (Conv1D weights are [in, out]; the head is tied).
 */
import type { Gpt2Config } from './gpt2-config.ts';

export type Initialisation =
  | { kind: 'zeros' }
  | { kind: 'ones' }
  | { kind: 'normal'; standardDeviation: number };

export interface TensorSpec {
  name: string;
  shape: readonly number[];
  /** Elements. */
  size: number;
  /** Index of the first element in the flat vector. */
  offset: number;
  /** Whether decoupled weight decay applies: matrices only. */
  decay: boolean;
  initialisation: Initialisation;
}

export interface ParameterLayout {
  tensors: readonly TensorSpec[];
  /** Elements of the flat vector. */
  size: number;
}

/** GPT-2 initialisation: normal(0, range), residual projections scaled by 1/sqrt(2 layers) (GPT-2 paper, section 2.3). */
export function gpt2Layout(config: Gpt2Config): ParameterLayout {
  const { width, inner, layers, initializerRange } = config;
  const normal: Initialisation = { kind: 'normal', standardDeviation: initializerRange };
  const residual: Initialisation = {
    kind: 'normal',
    standardDeviation: initializerRange / Math.sqrt(2 * layers),
  };
  const zeros: Initialisation = { kind: 'zeros' };
  const ones: Initialisation = { kind: 'ones' };
  const tensors: TensorSpec[] = [];
  let offset = 0;
  const add = (name: string, shape: number[], initialisation: Initialisation): void => {
    const size = shape.reduce((product, dimension) => product * dimension, 1);
    tensors.push({ name, shape, size, offset, decay: shape.length >= 2, initialisation });
    offset += size;
  };
  add('transformer.wte.weight', [config.vocabSize, width], normal);
  add('transformer.wpe.weight', [config.positions, width], normal);
  for (let layer = 0; layer < layers; layer++) {
    const prefix = `transformer.h.${layer}`;
    add(`${prefix}.ln_1.weight`, [width], ones);
    add(`${prefix}.ln_1.bias`, [width], zeros);
    add(`${prefix}.attn.c_attn.weight`, [width, 3 * width], normal);
    add(`${prefix}.attn.c_attn.bias`, [3 * width], zeros);
    add(`${prefix}.attn.c_proj.weight`, [width, width], residual);
    add(`${prefix}.attn.c_proj.bias`, [width], zeros);
    add(`${prefix}.ln_2.weight`, [width], ones);
    add(`${prefix}.ln_2.bias`, [width], zeros);
    add(`${prefix}.mlp.c_fc.weight`, [width, inner], normal);
    add(`${prefix}.mlp.c_fc.bias`, [inner], zeros);
    add(`${prefix}.mlp.c_proj.weight`, [inner, width], residual);
    add(`${prefix}.mlp.c_proj.bias`, [width], zeros);
  }
  add('transformer.ln_f.weight', [width], ones);
  add('transformer.ln_f.bias', [width], zeros);
  return { tensors, size: offset };
}

/** Parameters of the model, without building the layout. */
export function countParameters(config: Gpt2Config): number {
  const { width: c, inner, layers, vocabSize, positions } = config;
  const perLayer = 4 * c + (3 * c * c + 3 * c) + (c * c + c) + (c * inner + inner) + (inner * c + c);
  return (vocabSize + positions) * c + layers * perLayer + 2 * c;
}
