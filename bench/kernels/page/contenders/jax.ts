/** jax-js on WebGPU: `jit(valueAndGrad(loss))`, the way its documentation says is fastest. */
import { defaultDevice, init, jit, numpy as np, tree, valueAndGrad } from '@jax-js/jax';
import { layoutOf, type Model } from '../../models.ts';
import { norm, type Contender } from '../contender.ts';
import { inputsAndTargets, type ModelData } from '../data.ts';
import { channelsFirst, cnnLoss } from '../models/jax-cnn.ts';
import { gpt2Loss } from '../models/jax-gpt2.ts';

export async function startJax(): Promise<void> {
  const devices = await init('webgpu');
  if (!devices.includes('webgpu')) throw new Error('jax-js cannot use WebGPU here');
  defaultDevice('webgpu');
}

/** jax-js takes buffers over; the caller keeps its own. */
export const floats = (values: Float32Array, shape: readonly number[]): np.Array =>
  np.array(values.slice(), { shape: [...shape] });
export const integers = (values: Int32Array, shape = [values.length]): np.Array =>
  np.array(values.slice(), { shape, dtype: np.int32 });

type Loss = (parameters: np.Array[], inputs: np.Array, targets: np.Array) => np.Array;

export const jax: Contender = {
  async prepare(model, data) {
    await startJax();
    const parameters = layoutOf(model).tensors.map(({ name, shape, size, offset }) => {
      const values = data.parameters.slice(offset, offset + size);
      if (model.kind !== 'cnn') return floats(values, shape);
      const rearranged = channelsFirst(name, values, shape);
      return floats(rearranged.values, rearranged.shape);
    });
    const { loss, inputs, targets } = problem(model, data);
    const lossAndGradients = jit(valueAndGrad(loss));
    const run = (): [np.Array, np.Array[]] =>
      lossAndGradients(tree.ref(parameters), inputs.ref, targets.ref) as [np.Array, np.Array[]];
    return {
      async step() {
        const [value, gradients] = run();
        // Queued behind the gradients: one compiled program makes both.
        await value.data();
        tree.dispose(gradients);
      },
      async outcome() {
        const [value, gradients] = run();
        const [mean] = await value.data();
        const values = await Promise.all(gradients.map((gradient) => gradient.data()));
        return { loss: mean as number, gradientNorm: norm(values) };
      },
      dispose() {
        tree.dispose(parameters);
        inputs.dispose();
        targets.dispose();
        lossAndGradients.dispose();
      },
    };
  },
};

function problem(model: Model, data: ModelData): { loss: Loss; inputs: np.Array; targets: np.Array } {
  if (model.kind === 'cnn') {
    // One channel: channels first and last are the same bytes.
    const inputs = floats(data.images, [model.samples, 1, 28, 28]);
    return { loss: cnnLoss, inputs, targets: integers(data.tokens) };
  }
  const { inputs, targets } = inputsAndTargets(data.tokens, model.samples, model.tokens);
  return {
    loss: (parameters, ids, labels) => gpt2Loss(model, parameters, ids, labels),
    inputs: integers(inputs, [model.samples, model.tokens]),
    targets: integers(targets),
  };
}
