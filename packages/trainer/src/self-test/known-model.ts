/** A tiny model with fixed parameters and tokens, whose loss and gradients are stored beside it (known-values.ts). */
import { Random, gpt2Layout, type Gpt2Config } from '@tabweave/shared';

export const knownConfig: Gpt2Config = {
  vocabSize: 7,
  positions: 5,
  width: 4,
  layers: 1,
  heads: 2,
  inner: 6,
  layerNormEpsilon: 1e-5,
  initializerRange: 0.02,
};
export const knownBlockSize = 5;
export const knownSamples = 2;

export function knownParameters(): Float32Array {
  const layout = gpt2Layout(knownConfig);
  const random = new Random(20_26);
  const parameters = new Float32Array(layout.size);
  for (const { offset, size, initialisation } of layout.tensors) {
    const centre = initialisation.kind === 'ones' ? 1 : 0;
    for (let i = offset; i < offset + size; i++) parameters[i] = centre + 0.5 * random.normal();
  }
  return parameters;
}

export function knownTokens(): Int32Array {
  const random = new Random(11);
  return Int32Array.from({ length: knownSamples * (knownBlockSize + 1) }, () =>
    random.below(knownConfig.vocabSize),
  );
}
