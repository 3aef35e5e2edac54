/** A model that the engine does not know: ordinary TensorFlow.js code on Tabweave's device, recorded and replayed. */
import { CapturedStep, createWebGpuDevice } from '@tabweave/kernels';
import * as tf from '@tensorflow/tfjs';
import { layoutOf } from '../../models.ts';
import { norm, type Contender } from '../contender.ts';
import { cnnLoss } from '../models/tfjs-cnn.ts';

export function tabweaveCnn(captured: boolean): Contender {
  return {
    async prepare(model, data) {
      if (model.kind !== 'cnn') throw new Error('this is the contender for the CNN');
      const gpu = await createWebGpuDevice(navigator.gpu);
      const parameters = layoutOf(model).tensors.map(({ shape, size, offset }) =>
        tf.tensor(data.parameters.slice(offset, offset + size), [...shape]),
      );
      const images = tf.tensor4d(data.images, [model.samples, 28, 28, 1]);
      const classes = tf.tensor1d(data.tokens, 'int32');
      const run = (): tf.Tensor[] => {
        const loss = (...weights: tf.Tensor[]): tf.Scalar => cnnLoss(weights, images, classes);
        const { value, grads } = tf.valueAndGrads(loss)(parameters);
        return [...grads, value];
      };
      // Gradients in the order of the parameters, then the loss.
      let results = [...parameters.map((parameter) => tf.zerosLike(parameter)), tf.scalar(0)];
      const recorded = captured
        ? await CapturedStep.capture(gpu.kernels, {
            inputs: [...parameters, images, classes],
            targets: results.map((tensor) => ({ tensor, add: false })),
            run,
          })
        : null;
      const step = async (): Promise<void> => {
        if (recorded) recorded.replay();
        else {
          tf.dispose(results);
          results = tf.tidy(run);
        }
        await gpu.idle();
      };
      return {
        step,
        async outcome() {
          await step();
          const failure = (await gpu.takeFailures())[0];
          if (failure) throw new Error(failure.message);
          const values = await Promise.all(results.map((tensor) => tensor.data()));
          return { loss: values.at(-1)?.[0] ?? NaN, gradientNorm: norm(values.slice(0, -1)) };
        },
        dispose() {
          recorded?.dispose();
          gpu.dispose();
        },
      };
    },
  };
}
