/**
 * A model as an ordered list of layers with their costs, cut points being the places where exactly one
 * tensor crosses. FLOPs count a multiply-add as two, matrix products only (backward costs twice forward).
 */
import type { Gpt2Config } from './gpt2-config.ts';

export interface Layer {
  name: string;
  parameters: number;
  /** Forward FLOPs of one sample of `tokens` tokens. */
  forwardFlops: number;
  /** Bytes of activations kept for the backward pass, per sample (float32). */
  activationBytes: number;
  /** Bytes of the tensor that leaves the layer, per sample (float32); 0 where the model ends. */
  boundaryBytes: number;
}

/** @param tokens the sequence length of one sample. */
export function gpt2LayerGraph(config: Gpt2Config, tokens: number): Layer[] {
  const { width: c, inner, heads, vocabSize, positions } = config;
  const boundary = 4 * tokens * c;
  const blockParameters = 4 * c + (3 * c * c + 3 * c) + (c * c + c) + (c * inner + inner) + (inner * c + c);
  const blockFlops = 2 * tokens * (4 * c * c + 2 * c * inner) + 4 * tokens * tokens * c;
  // Normalised inputs, q k v, scores and probabilities, the attention output, and GELU's input and output.
  const blockActivations = 4 * (tokens * (8 * c + 3 * inner) + 3 * heads * tokens * tokens);
  return [
    {
      name: 'embedding',
      parameters: (vocabSize + positions) * c,
      forwardFlops: 0,
      activationBytes: boundary,
      boundaryBytes: boundary,
    },
    ...Array.from({ length: config.layers }, (_, layer) => ({
      name: `block ${layer}`,
      parameters: blockParameters,
      forwardFlops: blockFlops,
      activationBytes: blockActivations,
      boundaryBytes: boundary,
    })),
    {
      name: 'head',
      parameters: 2 * c,
      forwardFlops: 2 * tokens * c * vocabSize,
      activationBytes: 4 * tokens * (2 * c + 3 * vocabSize),
      boundaryBytes: 0,
    },
  ];
}

export interface MemoryEstimate {
  /** Held whatever the pass size: parameters, gradient sum, one gradient in flight. */
  fixedBytes: number;
  /** More for each sample of a pass. */
  perSampleBytes: number;
}

/** Worker memory of whole-model training; a pass is the samples on the device at one time. */
export function workerMemory(config: Gpt2Config, tokens: number): MemoryEstimate {
  const graph = gpt2LayerGraph(config, tokens);
  const parameters = graph.reduce((sum, layer) => sum + layer.parameters, 0);
  const activations = graph.reduce((sum, layer) => sum + layer.activationBytes, 0);
  return { fixedBytes: 3 * 4 * parameters, perSampleBytes: 2 * activations };
}

/** Server memory of one active run: parameters, two moments, the gradient sum, and one contribution. */
export function serverMemoryBytes(parameters: number): number {
  return 6 * 4 * parameters;
}
