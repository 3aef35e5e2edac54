/**
 * Every tile that a product may take on this device, against plain arithmetic; wrong ones are never taken. Where even the
 * last resort is wrong, products are switched off.
 */
import * as tf from '@tensorflow/tfjs';
import { KernelCompilationError, type KernelRuntime } from '../kernel/runtime.ts';
import type { WebGpuDevice } from '../device/webgpu-device.ts';
import { switchOff } from '../kernel/switches.ts';
import { candidateTiles, lastResort, matMulKernel, matMulName } from '../matmul/matmul.ts';
import { tileKey, type MatMulProblem, type MatMulTile } from '../matmul/problem.ts';
import { refuseTile } from '../matmul/tuning.ts';

/** Neither side is a multiple of a tile, and all tiles are candidates; k takes the tiles of workgroup memory twice. */
const problem: MatMulProblem = { batch: 1, m: 68, n: 132, k: 20, transposeA: false, transposeB: true };
/** Integers from -4 to 3, in no order (Knuth's multiplicative hash); exact in float16 as well. */
const element = (index: number): number => (Math.imul(index + 1, 0x9e37_79b1) >>> 29) - 4;

/** @returns the keys of the tiles refused, with the reason. */
export async function testTiles(device: WebGpuDevice): Promise<{ tile: string; reason: string }[]> {
  const runtime = device.kernels;
  const { m, n, k } = problem;
  const a = tf.tensor1d(Float32Array.from({ length: m * k }, (_, i) => element(i)));
  const b = tf.tensor1d(Float32Array.from({ length: n * k }, (_, i) => element(i + 3)));
  const expected = Float32Array.from({ length: m * n }, (_, index) => {
    const [row, column] = [Math.floor(index / n), index % n];
    let sum = 0;
    for (let i = 0; i < k; i++) sum += element(row * k + i) * element(column * k + i + 3);
    return sum;
  });
  const refused: { tile: string; reason: string }[] = [];
  for (const tile of [...candidateTiles(problem, runtime.traits), lastResort]) {
    const wrong = await complaint(runtime, tile, [a, b], expected);
    const reason = (await device.takeFailures())[0]?.message ?? wrong;
    if (reason === '') continue;
    if (tile === lastResort) switchOff(matMulName, reason.slice(0, 200));
    else refuseTile(runtime, tile);
    refused.push({ tile: tileKey(tile), reason });
  }
  tf.dispose([a, b]);
  return refused;
}

async function complaint(
  runtime: KernelRuntime,
  tile: MatMulTile,
  inputs: readonly tf.Tensor[],
  expected: Float32Array,
): Promise<string> {
  const kernel = matMulKernel(problem, tile, runtime.traits);
  try {
    await runtime.prepare(kernel);
  } catch (error) {
    if (error instanceof KernelCompilationError) return error.message;
    throw error;
  }
  const product = runtime.empty([expected.length]);
  // Its buffer may be that of the last tile, whose product is right: a kernel that does nothing must be seen.
  runtime.clear([product]);
  runtime.runInto(kernel, inputs, [product]);
  const got = (await product.data()) as Float32Array;
  product.dispose();
  const wrong = expected.findIndex((value, i) => got[i] !== value);
  return wrong < 0 ? '' : `element ${wrong} is ${got[wrong]}, not ${expected[wrong]}`;
}
