/** Seeded initial parameters: the same seed and layout give the same bits. */
import { Random, mix32, type ParameterLayout } from '@tabweave/shared';

/** Each tensor has its own stream, so that a tensor's values do not hang on those before it. */
export function initialParameters(layout: ParameterLayout, seed: number): Float32Array {
  const parameters = new Float32Array(layout.size);
  layout.tensors.forEach((tensor, index) => {
    const view = parameters.subarray(tensor.offset, tensor.offset + tensor.size);
    const { initialisation } = tensor;
    switch (initialisation.kind) {
      case 'zeros':
        break;
      case 'ones':
        view.fill(1);
        break;
      case 'normal': {
        const random = new Random(mix32(seed, index));
        for (let i = 0; i < view.length; i++) view[i] = random.normal() * initialisation.standardDeviation;
        break;
      }
    }
  });
  return parameters;
}
