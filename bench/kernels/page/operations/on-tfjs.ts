/** Launching TensorFlow.js functions: the same for the stock operations and for Tabweave's. */
import * as tf from '@tensorflow/tfjs';
import { hasUpstream, type Operation } from '../../operations.ts';
import type { Launcher, OperationData } from './runner.ts';

/** An operation as a function of its float inputs, the upstream gradient not among them. */
export type TfjsOperation = (inputs: tf.Tensor[], indices: tf.Tensor1D | null) => tf.Tensor;

export function launcher(operation: Operation, data: OperationData, apply: TfjsOperation): Launcher {
  const tensors = data.inputs.map(({ values, shape }) => tf.tensor(values, shape));
  const indices = data.indices && tf.tensor1d(data.indices, 'int32');
  const run = (): tf.Tensor[] => {
    if (operation.kind === 'matmul') return [tf.tidy(() => apply(tensors, indices))];
    const upstream = hasUpstream(operation);
    return tf.tidy(() => {
      const both = tf.valueAndGrads((...inputs: tf.Tensor[]) => apply(inputs, indices));
      const { value, grads } = upstream ? both(tensors.slice(0, -1), tensors.at(-1)) : both(tensors);
      return [value, ...grads];
    });
  };
  return {
    launch: () => tf.dispose(run()),
    async settle() {
      // One number of one more launch: its read-back is queued behind all others.
      const outputs = run();
      const one = tf.tidy(() => tf.slice(tf.reshape(outputs.at(-1) as tf.Tensor, [-1]), [0], [1]));
      await one.data();
      tf.dispose([outputs, one]);
    },
    async outputs() {
      const outputs = run();
      const values = await Promise.all(outputs.map((output) => output.data()));
      tf.dispose(outputs);
      return values;
    },
    dispose() {
      tf.dispose(tensors);
      indices?.dispose();
    },
  };
}
