/** Matrix products on our kernel. */
import type * as tf from '@tensorflow/tfjs';
import type { KernelRuntime } from '../kernel/runtime.ts';
import { matMulKernel } from '../matmul/matmul.ts';
import type { MatMulProblem } from '../matmul/problem.ts';
import { tileFor } from '../matmul/tuning.ts';

/** Bias and residual follow `a` and `b` in `inputs`. @returns C and, where asked for, the pre-activation and the column sums. */
export function runMatMul(
  runtime: KernelRuntime,
  problem: MatMulProblem,
  inputs: readonly tf.TensorInfo[],
  shape: number[],
): tf.Tensor[] {
  return runtime.run(matMulKernel(problem, tileFor(runtime, problem), runtime.traits), inputs, [
    { shape },
    ...(problem.keepPreActivation ? [{ shape }] : []),
    ...(problem.columnSums ? [{ shape: [problem.n] }] : []),
  ]);
}
