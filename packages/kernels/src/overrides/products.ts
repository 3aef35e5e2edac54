/**
 * Matrix products and sums of TensorFlow.js on our kernels, so that any model gets them. The stock product goes through
 * workgroup memory at one tile size, reads a transposed second operand one number at a time, and adds long inner axes
 * up by atomics, in no fixed order: a recomputation on a like device would not give the same bits.
 */
import type { TensorInfo } from '@tensorflow/tfjs-core';
import * as tf from '@tensorflow/tfjs';
import { addKernel } from '../elementwise/elementwise.ts';
import { presentRuntime } from '../kernel/runtime.ts';
import { switchedOn } from '../kernel/switches.ts';
import { matMulKernel } from '../matmul/matmul.ts';
import type { MatMulProblem } from '../matmul/problem.ts';
import { tileFor } from '../matmul/tuning.ts';
import { overrideKernel } from './override.ts';

export function installProducts(): void {
  replaceMatMul();
  replaceAdd();
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1);

function replaceMatMul(): void {
  overrideKernel('BatchMatMul', 'webgpu', (original) => (parameters) => {
    const { a, b } = parameters.inputs as { a: TensorInfo; b: TensorInfo };
    const { transposeA, transposeB } = parameters.attrs as unknown as {
      transposeA: boolean;
      transposeB: boolean;
    };
    const runtime = presentRuntime();
    const [batchA, batchB] = [a.shape.slice(0, -2), b.shape.slice(0, -2)];
    const [countA, countB] = [sizeOf(batchA), sizeOf(batchB)];
    const fits = countA === 1 || countB === 1 || batchA.join() === batchB.join();
    const empty = sizeOf(a.shape) === 0 || sizeOf(b.shape) === 0;
    const plain = a.dtype === 'float32' && b.dtype === 'float32' && fits && !empty;
    if (!runtime || !plain || !switchedOn('matmul')) return inOrder(() => original(parameters));
    const [m, k] = [a.shape.at(transposeA ? -1 : -2) ?? 1, a.shape.at(transposeA ? -2 : -1) ?? 1];
    const n = b.shape.at(transposeB ? -2 : -1) ?? 1;
    const batch = Math.max(countA, countB);
    const problem: MatMulProblem = {
      batch,
      m,
      n,
      k,
      transposeA,
      transposeB,
      sharedA: countA < batch,
      sharedB: countB < batch,
    };
    const outer = tf.broadcast_util.assertAndGetBroadcastShape(batchA, batchB);
    const output = runtime.backend.makeTensorInfo([...outer, m, n], 'float32');
    runtime.runInto(matMulKernel(problem, tileFor(runtime, problem), runtime.traits), [a, b], [output]);
    return output;
  });
}

/** `MatMulProgramType.MatMulSmallOutputSizeProgram`: the stock choice that never splits the inner axis. */
const smallOutputProgram = 2;

function inOrder<T>(run: () => T): T {
  const before = tf.env().getNumber('WEBGPU_MATMUL_PROGRAM_TYPE');
  tf.env().set('WEBGPU_MATMUL_PROGRAM_TYPE', smallOutputProgram);
  try {
    return run();
  } finally {
    tf.env().set('WEBGPU_MATMUL_PROGRAM_TYPE', before);
  }
}

/** Sums of equal shapes: the ones that gradients of a tensor used twice are made of, and that a recorded step folds. */
function replaceAdd(): void {
  overrideKernel('Add', 'webgpu', (original) => (parameters) => {
    const { a, b } = parameters.inputs as { a: TensorInfo; b: TensorInfo };
    const runtime = presentRuntime();
    const same = a.shape.join() === b.shape.join() && a.dtype === 'float32' && b.dtype === 'float32';
    if (!runtime || !same || sizeOf(a.shape) === 0 || !switchedOn('add')) return original(parameters);
    const output = runtime.backend.makeTensorInfo(a.shape, 'float32');
    runtime.runInto(addKernel(sizeOf(a.shape)), [a, b], [output]);
    return output;
  });
}
