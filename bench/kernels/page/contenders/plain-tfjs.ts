/** TensorFlow.js as it comes from npm: stock back ends, stock operations, `tf.variableGrads`. */
import '@tensorflow/tfjs-backend-webgpu';
import * as tf from '@tensorflow/tfjs';
import { layoutOf, type Model } from '../../models.ts';
import { norm, type Contender } from '../contender.ts';
import { inputsAndTargets, type ModelData } from '../data.ts';
import { cnnLoss } from '../models/tfjs-cnn.ts';
import { gpt2Loss } from '../models/tfjs-gpt2.ts';

export async function startTfjs(backend: 'webgpu' | 'webgl'): Promise<void> {
  if (!(await tf.setBackend(backend))) throw new Error(`TensorFlow.js cannot use ${backend} here`);
  await tf.ready();
}

export function plainTfjs(backend: 'webgpu' | 'webgl'): Contender {
  return {
    async prepare(model, data) {
      await startTfjs(backend);
      const layout = layoutOf(model);
      const variables = layout.tensors.map(({ shape, size, offset }) =>
        tf.variable(tf.tensor(data.parameters.slice(offset, offset + size), [...shape])),
      );
      const loss = lossOf(model, variables, data);
      return {
        async step() {
          const { value, grads } = tf.variableGrads(loss, variables);
          // The read-back is queued behind the gradients: when it resolves, they are there too.
          await value.data();
          tf.dispose([value, grads]);
        },
        async outcome() {
          const { value, grads } = tf.variableGrads(loss, variables);
          const [mean] = await value.data();
          const gradients = await Promise.all(variables.map((v) => (grads[v.name] as tf.Tensor).data()));
          tf.dispose([value, grads]);
          return { loss: mean as number, gradientNorm: norm(gradients) };
        },
        dispose: () => tf.dispose(variables),
      };
    },
  };
}

function lossOf(model: Model, variables: tf.Variable[], data: ModelData): () => tf.Scalar {
  const { samples } = model;
  if (model.kind === 'cnn') {
    const images = tf.tensor4d(data.images, [samples, 28, 28, 1]);
    const classes = tf.tensor1d(data.tokens, 'int32');
    return () => cnnLoss(variables, images, classes);
  }
  const { inputs, targets } = inputsAndTargets(data.tokens, samples, model.tokens);
  const ids = tf.tensor2d(inputs, [samples, model.tokens], 'int32');
  const labels = tf.tensor2d(targets, [samples, model.tokens], 'int32');
  return () => gpt2Loss(model, variables, ids, labels);
}
