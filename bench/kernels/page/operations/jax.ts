/** The operations with jax-js, each compiled whole, with its gradient, by `jit`. */
import { jit, numpy as np, tree, vjp } from '@jax-js/jax';
import { hasUpstream, type Operation } from '../../operations.ts';
import { floats, integers, startJax } from '../contenders/jax.ts';
import { attention, layerNorm, meanCrossEntropy } from '../models/jax-gpt2.ts';
import type { OperationContender } from './runner.ts';

export const jaxOperations: OperationContender = {
  start: startJax,
  prepare(operation, data) {
    const inputs = data.inputs.map(({ values, shape }) => floats(values, shape));
    // A scalar stands in where there are no indices: an argument may not be missing.
    const indices = integers(data.indices ?? new Int32Array(1));
    const compiled = jit(withGradients(operation));
    const run = (): np.Array[] => compiled(tree.ref(inputs), indices.ref);
    return {
      launch() {
        const outputs = run();
        // Arrays are lazy: asking for one's buffer, which consumes it, submits the program that makes them all.
        outputs.pop()?.gpuBufferSync();
        tree.dispose(outputs);
      },
      async settle() {
        const outputs = run();
        await outputs.at(-1)?.blockUntilReady();
        tree.dispose(outputs);
      },
      outputs: () => Promise.all(run().map((output) => output.data())),
      dispose() {
        tree.dispose(inputs);
        indices.dispose();
        compiled.dispose();
      },
    };
  },
};

/** Arguments are consumed; what is not used is given back. */
function withGradients(operation: Operation): (inputs: np.Array[], indices: np.Array) => np.Array[] {
  if (operation.kind === 'matmul') {
    const { transposeA, transposeB } = operation;
    return (inputs, indices) => {
      indices.dispose();
      const [a, b] = inputs as [np.Array, np.Array];
      return [np.matmul(transposeA ? a.transpose() : a, transposeB ? b.transpose() : b)];
    };
  }
  return (inputs, indices) => {
    const upstream = hasUpstream(operation) ? (inputs.at(-1) as np.Array) : np.array(1);
    const primals = hasUpstream(operation) ? inputs.slice(0, -1) : inputs;
    const forward = (...floatInputs: np.Array[]): np.Array => apply(operation, floatInputs, indices);
    const [value, pullBack] = vjp(forward, primals);
    const gradients = pullBack(upstream);
    pullBack.dispose();
    return [value, ...gradients];
  };
}

function apply(
  operation: Exclude<Operation, { kind: 'matmul' }>,
  inputs: np.Array[],
  indices: np.Array,
): np.Array {
  const [first, second, third] = inputs as [np.Array, np.Array, np.Array];
  switch (operation.kind) {
    case 'layer norm':
      indices.dispose();
      return layerNorm(first, second, third, 1e-5);
    case 'cross-entropy':
      return meanCrossEntropy(first, indices, operation.classes);
    case 'attention': {
      indices.dispose();
      const { samples, heads, tokens, headWidth } = operation;
      return attention({ samples, heads, tokens, width: heads * headWidth }, first);
    }
    case 'embedding':
      return np.take(first, indices, 0);
  }
}
